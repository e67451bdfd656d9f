// Chapter 5: the version is edited, and the members change in place, one after another, while the client keeps writing.
import { green, seconds } from "../../lab/progress.ts";
import { cluster, nextVersion } from "../names.ts";
import { chapter, type Story, timeoutMs } from "../story.ts";
import { isClusterReady } from "../table.ts";
import { tell, type } from "../typed.ts";
import { readEverythingBack } from "./read-back.ts";

export async function upgrade(story: Story): Promise<void> {
  const { view, writer, signal, done } = story;
  const from = view.cluster?.status?.currentVersion ?? "";
  chapter(`5. An upgrade from etcd ${from} to ${nextVersion}, and the client keeps writing`);
  await type(`kubectl patch etcd ${cluster} --type=merge -p '{"spec":{"version":"${nextVersion}"}}'`, { signal });
  const before = new Set(view.cluster?.status?.voters);
  const tookMs = await view.wait(
    {
      until: `all run ${nextVersion}`,
      holds: () => isClusterReady(view.cluster) && view.cluster?.status?.currentVersion === nextVersion,
      timeoutMs,
      note: () => writer.state(),
    },
    signal,
  );
  const stayed = view.cluster?.status?.voters?.filter((member) => before.has(member)).length ?? 0;
  done.push({ what: `upgraded ${from} to ${nextVersion}`, tookMs });
  tell(`Upgraded in ${seconds(tookMs)}, in place: ${stayed} of ${before.size} pods are the same.`, green);
  await readEverythingBack(story);
}
