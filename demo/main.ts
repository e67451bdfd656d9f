// `make demo`: from nothing to an etcd cluster that heals before your eyes. Every step is a command that a person could
// type, and is shown; what it made stays, so that they can go on from there.
import { labConfig } from "../lab/config.ts";
import { bold, dim, green, say, seconds, step } from "../lab/progress.ts";
import { ClusterView, hasMember, isWhole } from "./cluster-view.ts";
import { command } from "./command.ts";
import { deployOperator } from "./deploy.ts";
import { findGround, type Ground, howToUse } from "./ground.ts";
import { shell, showLine, type } from "./typed.ts";
import { writeLine, Writer } from "./writer.ts";

const manifest = "example/example-etcd-cluster-3.6.yaml";
const cluster = "my-etcd";
const patienceMs = 180_000;
/** Writes before the member is stopped, and again after the cluster is whole. */
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
    const ground = await findGround(args, signal);
    await type("kubectl get nodes", { signal });

    chapter("2. The operator");
    await deployOperator(ground, signal);

    chapter("3. A cluster of three members");
    await type(`kubectl apply -f ${manifest}`, { signal });
    const view = await openView(signal);
    const made = await view.wait({ until: "all members serve", holds: isWhole, timeoutMs: patienceMs }, signal);
    say(green(`  ${view.cluster?.status?.ready ?? "All"} members are healthy after ${seconds(made)}.`));

    chapter("4. A member is stopped while a client keeps writing");
    const writer = new Writer({ prefix: `demo/${Date.now()}/`, members: () => view.serving() });
    await healUnderWrites(view, writer, signal);

    chapter("5. Everything is read back");
    await readBack(view, writer);
    await type(`kubectl get etcd ${cluster}`, { signal });
    say();
    say(whatNext(ground));
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
    if (stopped === undefined) throw new Error(`No member of ${cluster} serves, although it said that all do.`);
    say(`  The leader is ${bold(stopped)}. It goes:`);
    await type(`kubectl delete pod ${stopped} --now --wait=false`, { signal });
    const healed = await view.wait(
      {
        until: "it is whole again",
        holds: (seen) => isWhole(seen) && !hasMember(seen, stopped),
        timeoutMs: patienceMs,
        note: () => `${writer.acknowledged.size} writes acknowledged`,
      },
      signal,
    );
    say(green(`  Whole again ${seconds(healed)} after a member was lost.`));
    await moreWrites(writer, signal);
  } finally {
    enough.abort();
    await writing;
  }
}

function moreWrites(writer: Writer, signal: AbortSignal): Promise<void> {
  const goal = writer.acknowledged.size + writesEachSide;
  return step(`${writesEachSide} more writes`, async (progress) => {
    const late = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
    while (writer.acknowledged.size < goal) {
      progress.detail(`${writer.acknowledged.size} acknowledged, ${writer.unknown} without an answer`);
      late.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
}

async function readBack(view: ClusterView, writer: Writer): Promise<void> {
  const member = view.serving()[0];
  if (member === undefined) throw new Error(`No member of ${cluster} serves, so nothing can be read back.`);
  showLine(`kubectl ${writeLine(member, "get", "--prefix", "demo/").join(" ")}`);
  const found = await writer.readBack(member);
  const lost = [...writer.acknowledged].filter(([key, value]) => found.get(key) !== value);
  if (lost.length > 0)
    throw new Error(
      `${lost.length} of ${writer.acknowledged.size} acknowledged writes are lost, first ${lost[0]?.join(" = ")}: this is a defect.`,
    );
  const rest = writer.unknown === 0 ? "" : dim(` (${writer.unknown} more ended without an answer while it healed)`);
  say(green(`  All ${writer.acknowledged.size} acknowledged writes are there.`) + rest);
}

function whatNext(ground: Ground): string {
  const lines = [
    [howToUse(ground), ""],
    [`kubectl get etcd,pods`, "the cluster and its members"],
    [`kubectl describe etcd ${cluster}`, "conditions and events"],
    [`kubectl scale etcd ${cluster} --replicas=5`, "grow it; watch with kubectl get pods -w"],
    [`CLUSTER=${cluster} example/experiment/put.sh &`, "write, while"],
    [`CLUSTER=${cluster} example/experiment/delete_pod.sh 3`, "members are stopped at random,"],
    [`CLUSTER=${cluster} example/experiment/get.sh`, "then compare"],
    [`kubectl delete etcd ${cluster}`, "the end of it"],
    [ground.t === "lab" ? lineToTakeDown(ground.lab.name) : "", "the end of all of it"],
  ].filter(([line]) => line !== "");
  const shown = lines.map(([line = "", why = ""]) =>
    `  ${line.padEnd(56)}${why === "" ? "" : dim(`# ${why}`)}`.trimEnd(),
  );
  return [bold("What to type next:"), ...shown, dim("More: docs/clusters.md")].join("\n");
}

const lineToTakeDown = (lab: string): string =>
  `make lab-down${lab === labConfig().name ? "" : ` LAB_OPTIONS='--name ${lab}'`}`;

await command(demo);
