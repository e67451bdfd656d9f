// A process that leads, for tests that stop it. For each line on its standard input it tries a write and says whether
// its timers had noticed the loss by then, and what came of the write. After `stop` it first stops itself, so that
// when somebody resumes it the write comes before anything else, its timers too.
import type { KubeApi } from "../../client/api.ts";
import { fenced } from "../../leader/fence.ts";
import { ConfigMap, Lease } from "../../objects/kinds.ts";
import { lead } from "../../leader/lease.ts";
import { FakeApi } from "../fake-api/fake-api.ts";

const api = new FakeApi({ kinds: [{ kind: Lease }, { kind: ConfigMap }] });
const say = (line: string): void => void process.stdout.write(`${line}\n`);
// Long enough that a busy machine does not cost it the lease before it is stopped.
const timing = { leaseDuration: 4500, renewDeadline: 3000, retryPeriod: 200 };
const signal = new AbortController().signal;

let asLeader: KubeApi | undefined;
let lost: AbortSignal | undefined;
process.stdin.setEncoding("utf8").on("data", (line: string) => {
  if (line === "stop\n") process.kill(process.pid, "SIGSTOP");
  const knows = lost?.aborted === true ? "aware" : "unaware";
  const writing = asLeader?.create(ConfigMap, { metadata: { namespace: "n", generateName: "a-" } });
  writing?.then(
    () => say(`${knows} sent`),
    (error: Error) => say(`${knows} ${error.name}`),
  );
});
process.stdin.on("end", () => process.exit(0));

await lead({ api, lease: { namespace: "n", name: "l" }, identity: "me", timing, signal }, (stop, fence) => {
  // Only the first reign counts: a process that leads again may write again.
  if (asLeader === undefined) say("leading");
  asLeader ??= fenced(api, fence);
  lost ??= fence.signal;
  return new Promise((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
});
