// `make chaos`: the experiment for five minutes (CHAOS_MINUTES=…) on a cluster of three, on the running lab or a new one.
// Prints how many members were stopped, how many writes were acknowledged, and how many were lost.
import { run } from "../../lab/machine/command.ts";
import { bold, dim, green, say, seconds, step } from "../../lab/progress.ts";
import { command } from "../../demo/command.ts";
import { deployOperator } from "../../demo/deploy.ts";
import { findTarget } from "../../demo/target.ts";
import { experiment } from "./experiment.ts";

const name = "chaos";
const manifest = {
  apiVersion: "etcd.database.coreos.com/v1beta2",
  kind: "EtcdCluster",
  metadata: { name },
  spec: { size: 3, version: "3.6.16" },
};

function lastsMs(): number {
  const minutes = Number(process.env["CHAOS_MINUTES"] ?? "5");
  if (!(minutes > 0))
    throw new Error(`CHAOS_MINUTES must be a number of minutes, not "${process.env["CHAOS_MINUTES"]}".`);
  return minutes * 60_000;
}

await command(async (args, signal) => {
  const lasts = lastsMs();
  const ground = await findTarget(args, signal);
  await deployOperator(ground, signal);
  const kubectl = (...words: string[]): Promise<string> => run("kubectl", words, { signal });
  const namespace = (await kubectl("config", "view", "--minify", "--output=jsonpath={..namespace}")) || "default";
  await run("kubectl", ["apply", "--filename=-"], { input: JSON.stringify(manifest), signal });
  await step("a cluster of three", () =>
    kubectl("wait", "--for=condition=Ready", `etcdcluster/${name}`, "--timeout=180s"),
  );
  say(bold(`For ${seconds(lasts)} one client keeps writing, and one member after another is stopped at random.`));
  const onLine = (line: string): void => say(dim(`  ${line}`));
  const { stopped, acknowledged } = await experiment({ namespace, cluster: name, lastsMs: lasts, signal, onLine });
  await kubectl("delete", `etcdcluster/${name}`, "--wait=false");
  say(green(`${stopped} members were stopped, ${acknowledged} writes were acknowledged. Lost: nothing.`));
});
