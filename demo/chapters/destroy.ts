// Chapter 7: all member pods are deleted at once. The members have no volumes, so their data is gone; the EtcdCluster and its
// Services stay, and its status says what to do. Deleting the EtcdCluster would prove less: nobody would be left to say it.
import { red } from "../../lab/progress.ts";
import { cluster } from "../names.ts";
import { chapter, type Story, timeoutMs } from "../story.ts";
import { tell, type } from "../typed.ts";

export async function destroy({ view, signal, done }: Story): Promise<void> {
  chapter("7. All members are deleted at once");
  tell("They keep their data in their pods, not in volumes: it goes with them.");
  await type(`kubectl delete pods -l etcd_cluster=${cluster} --now --wait=false`, { signal });
  const tookMs = await view.wait(
    {
      until: "no member is left",
      holds: () => view.cluster?.status?.phase === "Failed" && !view.hasPods(),
      timeoutMs,
    },
    signal,
  );
  done.push({ what: "lost all members", tookMs });
  tell("The data is gone. The cluster does not start empty; it says what to do:", red);
  await type(`kubectl get etcd ${cluster} -o jsonpath='{.status.reason}'`, { signal });
}
