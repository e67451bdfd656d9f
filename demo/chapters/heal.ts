// Chapter 4: a client begins to write, the leader is killed, and the cluster heals.
import { bold, green, seconds } from "../../lab/progress.ts";
import { hasMember } from "../cluster-view.ts";
import { cluster } from "../names.ts";
import { chapter, type Story, timeoutMs } from "../story.ts";
import { isClusterReady } from "../table.ts";
import { showLine, tell, type } from "../typed.ts";
import { putLine } from "../writer.ts";
import { moreWrites } from "./more-writes.ts";

export async function healUnderWrites(story: Story): Promise<void> {
  const { view, writer, signal, done } = story;
  chapter("4. The leader is killed while a client keeps writing");
  writer.start();
  showLine(`kubectl ${putLine(view.serving()[0] ?? "", "demo/…", "written-…").join(" ")}`);
  await moreWrites(story);
  const stopped = view.cluster?.status?.leader ?? view.serving()[0];
  if (stopped === undefined) throw new Error(`No member of ${cluster} is ready, although the cluster was.`);
  tell(`The leader is ${bold(stopped)}. Delete its pod:`);
  await type(`kubectl delete pod ${stopped} --now --wait=false`, { signal });
  const tookMs = await view.wait(
    {
      until: "the cluster has healed",
      holds: () => isClusterReady(view.cluster) && !hasMember(view.cluster, stopped),
      timeoutMs,
      note: () => writer.state(),
    },
    signal,
  );
  done.push({ what: "healed after the leader was killed", tookMs });
  tell(`Healed ${seconds(tookMs)} after its leader was killed. ${writer.state()}.`, green);
}
