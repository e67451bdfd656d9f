// `make demo`: from nothing to an etcd cluster that heals before your eyes. It shows every command as a person would type
// it, and leaves the cluster for them to go on with.
import { labConfig } from "../lab/config.ts";
import { bold, dim, green, say, seconds, step } from "../lab/progress.ts";
import { ClusterView, hasMember, isClusterReady } from "./cluster-view.ts";
import { command } from "./command.ts";
import { deployOperator } from "./deploy.ts";
import { findTarget, type Target, howToUse } from "./target.ts";
import { shell, showLine, type } from "./typed.ts";
import { writeLine, Writer } from "./writer.ts";

const manifest = "example/example-etcd-cluster-3.6.yaml";
const cluster = "my-etcd";
const timeoutMs = 180_000;
/** Writes before the leader is killed, and again after the cluster has healed. */
const writesEachSide = 10;

function chapter(title: string): void {
  say();
  say(bold(title));
}

async function demo(args: readonly string[], interrupted: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([interrupted, ended.signal]);
  try {
    chapter("1. A Kubernetes");
    const target = await findTarget(args, signal);
    await type("kubectl get nodes", { signal });

    chapter("2. The operator");
    await deployOperator(target, signal);

    chapter("3. A cluster of three members");
    await type(`kubectl apply -f ${manifest}`, { signal });
    const view = await openView(signal);
    const made = await view.wait({ until: "all members serve", holds: isClusterReady, timeoutMs }, signal);
    say(green(`  ${view.cluster?.status?.ready ?? "All"} members are healthy after ${seconds(made)}.`));

    chapter("4. The leader is killed while a client keeps writing");
    const writer = new Writer({ prefix: `demo/${Date.now()}/`, members: () => view.serving() });
    await healUnderWrites(view, writer, signal);

    chapter("5. Everything is read back");
    await readBack(view, writer);
    await type(`kubectl get etcd ${cluster}`, { signal });
    say();
    say(whatNext(target));
  } finally {
    ended.abort(new Error("The demo has ended"));
  }
}

async function openView(signal: AbortSignal): Promise<ClusterView> {
  const namespace = await shell("kubectl config view --minify -o 'jsonpath={..namespace}'", { signal });
  return ClusterView.open({ namespace: namespace || "default", name: cluster }, signal);
}

async function healUnderWrites(view: ClusterView, writer: Writer, signal: AbortSignal): Promise<void> {
  const enough = new AbortController();
  const writing = writer.run(AbortSignal.any([signal, enough.signal]));
  try {
    showLine(`kubectl ${writeLine(view.serving()[0] ?? "", "put", "demo/…", "written-…").join(" ")}`);
    await moreWrites(writer, signal);
    const stopped = view.cluster?.status?.leader ?? view.serving()[0];
    if (stopped === undefined) throw new Error(`No member of ${cluster} is ready, although the cluster was.`);
    say(`  The leader is ${bold(stopped)}. Delete its pod:`);
    await type(`kubectl delete pod ${stopped} --now --wait=false`, { signal });
    const healed = await view.wait(
      {
        until: "the cluster has healed",
        holds: (seen) => isClusterReady(seen) && !hasMember(seen, stopped),
        timeoutMs,
        note: () => `${writer.acknowledged.size} writes acknowledged`,
      },
      signal,
    );
    say(green(`  Healed ${seconds(healed)} after its leader was killed.`));
    await moreWrites(writer, signal);
  } finally {
    enough.abort();
    await writing;
  }
}

function moreWrites(writer: Writer, signal: AbortSignal): Promise<void> {
  const goal = writer.acknowledged.size + writesEachSide;
  return step(`${writesEachSide} more writes`, async (progress) => {
    const late = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    while (writer.acknowledged.size < goal) {
      progress.detail(`${writer.acknowledged.size} acknowledged, ${writer.unknown} not`);
      late.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
}

async function readBack(view: ClusterView, writer: Writer): Promise<void> {
  const member = view.serving()[0];
  if (member === undefined) throw new Error(`No member of ${cluster} is ready, so nothing can be read back.`);
  showLine(`kubectl ${writeLine(member, "get", "--prefix", "demo/").join(" ")}`);
  const found = await writer.readBack(member);
  const lost = [...writer.acknowledged].filter(([key, value]) => found.get(key) !== value);
  if (lost.length > 0)
    throw new Error(
      `${lost.length} of ${writer.acknowledged.size} acknowledged writes are lost, first ${lost[0]?.join(" = ")}: this is a bug.`,
    );
  const rest = writer.unknown === 0 ? "" : dim(` (${writer.unknown} more were not acknowledged during the healing)`);
  say(green(`  All ${writer.acknowledged.size} acknowledged writes are there.`) + rest);
}

function whatNext(target: Target): string {
  const lines = [
    [howToUse(target), ""],
    [`kubectl get etcd,pods`, "the cluster and its members"],
    [`kubectl describe etcd ${cluster}`, "conditions and events"],
    [`kubectl scale etcd ${cluster} --replicas=5`, "grow it; watch with kubectl get pods -w"],
    [`CLUSTER=${cluster} example/experiment/put.sh &`, "write, while"],
    [`CLUSTER=${cluster} example/experiment/delete_pod.sh 3`, "members are killed at random,"],
    [`CLUSTER=${cluster} example/experiment/get.sh`, "then compare"],
    [`kubectl delete etcd ${cluster}`, "delete the cluster"],
    [target.t === "lab" ? lineToTakeDown(target.lab.name) : "", "stop the lab"],
  ].filter(([line]) => line !== "");
  const shown = lines.map(([line = "", why = ""]) =>
    `  ${line.padEnd(56)}${why === "" ? "" : dim(`# ${why}`)}`.trimEnd(),
  );
  return [bold("What to type next:"), ...shown, dim("More: docs/clusters.md")].join("\n");
}

const lineToTakeDown = (lab: string): string =>
  `make lab-down${lab === labConfig().name ? "" : ` LAB_OPTIONS='--name ${lab}'`}`;

await command(demo);
