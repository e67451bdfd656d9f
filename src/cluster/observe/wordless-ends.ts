// An etcd that has a value from a Secret leaves nothing of its log in the status of its pod. Whether it found no data must be
// known all the same: three such members have lost everything, and do not come back by themselves. So its log is read, and
// nothing of it is kept but that.
import type { KubeApi } from "../../kube/client/api.ts";
import { etcdContainer } from "../objects/member-pod.ts";
import { foundNoData } from "./pod-problems.ts";
import type { MemberPod } from "./world.ts";

/** Reads the few lines before its end. */
const limits = { container: etcdContainer, tailLines: 20, limitBytes: 65_536 };

/** The pod, with what its log says. One whose log cannot be read is not known to have lost anything. */
export async function withEndRead(
  pod: MemberPod,
  namespace: string,
  api: KubeApi,
  signal: AbortSignal,
): Promise<MemberPod> {
  const { guard, name, state } = pod;
  // Before its first start it exits like this when it finds nobody to join.
  if (state.t !== "crashing" || state.wordless !== true || guard !== "closed") return pod;
  const log = await api.log({ namespace, name }, { ...limits, signal }).catch(() => "");
  return foundNoData(log) ? { ...pod, state: { ...state, withoutData: true } } : pod;
}
