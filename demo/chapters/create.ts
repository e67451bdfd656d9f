// Chapter 3: an EtcdCluster of three members is applied, and serves.
import { green, seconds } from "../../lab/progress.ts";
import { applyLine, manifests } from "../names.ts";
import { chapter, type Story, timeoutMs } from "../story.ts";
import { isClusterReady } from "../table.ts";
import { tell, type } from "../typed.ts";

export async function createCluster({ view, signal, done }: Story): Promise<void> {
  chapter("3. A cluster of three members");
  await type(applyLine(manifests.cluster), { signal });
  const tookMs = await view.wait(
    { until: "all members serve", holds: () => isClusterReady(view.cluster), timeoutMs },
    signal,
  );
  done.push({ what: "created three members", tookMs });
  tell(`${view.cluster?.status?.ready ?? "All"} members are healthy after ${seconds(tookMs)}.`, green);
}
