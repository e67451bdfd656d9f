// A run of the plugin against the in-memory API server, with a kubectl whose answers the test gives: what was printed, and
// what was done.
import { fakeKinds } from "../../api/testing/fake-kinds.ts";
import type { ApiError } from "../../kube/client/errors.ts";
import { Deployment, Event, Lease, Node, PersistentVolumeClaim, Pod, Secret } from "../../kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import type { ExitCode } from "../command.ts";
import type { Flags } from "../line/flags.ts";
import type { Reach } from "../place/reach.ts";
import { commandInWords } from "../place/hide-secrets.ts";
import { Refusal } from "../place/refusal.ts";
import { runProgram } from "../program.ts";
import { plain } from "../screen/colour.ts";
import { now } from "../view/testing/scenes.ts";

export interface Printed {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

export class Stage {
  readonly api = new FakeApi({
    kinds: [
      ...fakeKinds,
      ...[Pod, Node, PersistentVolumeClaim, Secret, Lease, Deployment].map((kind) => ({ kind })),
      { kind: Event },
    ],
  });
  /** What a pod prints at /metrics; an error where it does not answer. */
  metrics: (pod: string) => string | ApiError = () => "";
  log: (pod: string) => string = (pod) => `the log of ${pod}\n`;
  /** What kubectl prints; undefined: it fails. */
  kubectl: (args: readonly string[]) => string | undefined = () => "";
  /** Each call of kubectl. */
  readonly calls: (readonly string[])[] = [];
  answer: "yes" | "no" | "nobody" = "nobody";
  /** What happens while the person thinks. */
  beforeAnswer: () => Promise<unknown> = async () => undefined;
  /** Hears each line while the command runs. */
  onPrint: (text: string) => void = () => undefined;
  readonly #stop = new AbortController();

  async add<T extends KubeObject>(kind: Kind<T>, ...objects: readonly T[]): Promise<void> {
    for (const object of objects) {
      const { status, ...rest } = object as T & { status?: object };
      const made = await this.api.create(kind, rest as T);
      if (status === undefined) continue;
      const key = { namespace: made.metadata?.namespace ?? "", name: made.metadata?.name ?? "" };
      await this.api.mergePatch(kind, key, { status }, { subresource: "status" });
    }
  }

  /** A kubelet for pods that are made from now on. `seen`: each of them, with the Secret that was made before it. */
  startPods(seen: (pod: Pod, secrets: readonly Secret[]) => void = () => undefined): void {
    const create = this.api.create.bind(this.api);
    this.api.create = async (kind, object, options) => {
      const made = await create(kind, object, options);
      if (kind.kind !== Pod.kind) return made;
      const { namespace = "", name = "" } = made.metadata ?? {};
      const containerStatuses = [{ name: "etcdctl", state: { running: {} } }];
      const status = { phase: "Running", containerStatuses };
      await this.api.mergePatch(Pod, { namespace, name }, { status }, { subresource: "status" });
      seen(await this.api.get(Pod, { namespace, name }), (await this.api.list(Secret)).items);
      return made;
    };
  }

  stop(): void {
    this.#stop.abort();
  }

  reach(namespace = "default"): Reach {
    return {
      api: this.api,
      namespace,
      context: "lab",
      metrics: async ({ name }) => {
        const answer = this.metrics(name);
        if (typeof answer === "string") return answer;
        throw answer;
      },
      logEnd: async ({ name }) => this.log(name),
      [Symbol.dispose]: () => undefined,
    };
  }

  async run(...words: readonly string[]): Promise<Printed> {
    let [out, err] = ["", ""];
    const screen = {
      columns: 120,
      rows: 50,
      paint: plain,
      isTerminal: false,
      canAsk: this.answer !== "nobody",
      print: (text: string): void => {
        out += `${text}\n`;
        this.onPrint(text);
      },
      note: (text: string): void => void (err += `${text}\n`),
      clear: () => undefined,
      draw: () => undefined,
      ask: async (question: string) => {
        err += `${question}\n`;
        await this.beforeAnswer();
        return this.answer === "yes";
      },
    };
    const code = await runProgram(words, {
      screen: () => screen,
      reach: (flags: Flags) => this.reach(flags.text("namespace")),
      kubectl: () => ({
        run: async (args) => (this.#call(args) === undefined ? 1 : 0),
        read: async (args) => {
          const printed = this.#call(args);
          if (printed === undefined) throw new Refusal(`${commandInWords("kubectl", args)} failed.`);
          return printed;
        },
      }),
      now: () => now,
      signal: this.#stop.signal,
    });
    return { code, out, err };
  }

  #call(args: readonly string[]): string | undefined {
    this.calls.push(args);
    return this.kubectl(args);
  }
}
