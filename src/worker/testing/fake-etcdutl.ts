// An etcdutl for tests that need no etcd: it answers what the test has written, fails as it is told, and records what it was
// called with. A restore makes a data directory that holds the snapshot.
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";

const program = `#!/bin/sh
dir=$(dirname "$0")
echo "$*" >> "$dir/calls"
case "$1 $2" in
  "snapshot status") step=status ;;
  "snapshot restore") step=restore ;;
  *) step=hashkv; case "$3" in --rev=*) step="hashkv-\${3#--rev=}" ;; esac ;;
esac
if [ "$step" = restore ]; then
  for word; do
    case "$word" in
      --data-dir=*) data="\${word#--data-dir=}"; mkdir -p "$data/member" && cp "$3" "$data/member/db" ;;
    esac
  done
fi
if [ -e "$dir/$step.hangs" ]; then touch "$dir/$step.waits"; exec sleep 600; fi
if [ -e "$dir/$step.killed" ]; then kill -KILL $$; fi
if [ -e "$dir/$step.fails" ]; then cat "$dir/$step.fails" >&2; exit 1; fi
if [ -e "$dir/$step" ]; then cat "$dir/$step"; fi
`;

type Step = "status" | "restore" | "hashkv" | `hashkv-${number}`;

export class FakeEtcdutl implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<FakeEtcdutl> {
    const made = new FakeEtcdutl(await mkdtemp(path.join(tmpdir(), "etcdutl-")));
    await writeFile(made.program, program, { mode: 0o755 });
    return made;
  }

  get program(): string {
    return path.join(this.folder, "etcdutl");
  }

  /** What it prints. */
  says(step: Step, answer: object | string): Promise<void> {
    return this.#write(step, typeof answer === "string" ? answer : JSON.stringify(answer));
  }

  /** In these words, on the standard error. */
  fails(step: Step, words: string): Promise<void> {
    return this.#write(`${step}.fails`, words);
  }

  /** As by a kernel that is out of memory. */
  isKilled(step: Step): Promise<void> {
    return this.#write(`${step}.killed`, "");
  }

  /** Until it is ended. */
  hangs(step: Step): Promise<void> {
    return this.#write(`${step}.hangs`, "");
  }

  /** Whether it hangs by now. */
  isHanging = (step: Step): boolean => existsSync(path.join(this.folder, `${step}.waits`));

  /** Its arguments, a line for each call. */
  async calls(): Promise<readonly string[]> {
    const text = await readFile(path.join(this.folder, "calls"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  #write(name: string, text: string): Promise<void> {
    return writeFile(path.join(this.folder, name), text);
  }
}
