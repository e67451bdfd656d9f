// Chapter 8: the cluster is restored from its backup, under the same name, and what the backup holds is read back.
import { green, seconds } from "../../lab/progress.ts";
import { applyLine, manifests } from "../names.ts";
import type { Comparison } from "../read-back.ts";
import { chapter, type Story, timeoutMs } from "../story.ts";
import { isClusterReady } from "../table.ts";
import { tell, type } from "../typed.ts";
import { readBack } from "./read-back.ts";

export async function restore(story: Story, revision: number): Promise<Comparison> {
  const { view, signal, done } = story;
  chapter("8. The cluster is restored");
  await type(applyLine(manifests.restore), { signal });
  const tookMs = await view.wait(
    {
      until: "all members serve again",
      holds: () => view.restore?.status?.succeeded === true && isClusterReady(view.cluster),
      fails: () => (view.restore?.status?.phase === "Failed" ? view.restore.status.reason : undefined),
      timeoutMs,
      stage: () => view.restore?.status?.message ?? "",
    },
    signal,
  );
  done.push({ what: "restored from the backup", tookMs });
  const seed = view.restore?.status?.seed?.member;
  if (seed !== undefined && !view.cluster?.status?.voters?.includes(seed))
    tell(`${seed} was made from the volume and seeded the others; it was replaced to let go of it.`);
  tell(`Restored in ${seconds(tookMs)}. Read everything back:`, green);
  const result = await readBack(story, revision);
  const { kept, later } = result;
  tell(`All ${kept.acknowledged} writes that were acknowledged up to revision ${revision} are there.`, green);
  tell(
    `${later.acknowledged} were acknowledged after the backup, and ${later.found} of them are there: ` +
      "a restore brings back what the backup holds, and nothing else.",
  );
  return result;
}
