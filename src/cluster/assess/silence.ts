// Pods that have run for a while and do not answer, by what their kubelets say of them: etcd does not serve, or it serves
// everybody but the operator.
import type { ReadyReason } from "../../api/conditions.ts";
import { ports } from "../objects/labels.ts";
import type { MemberName } from "../objects/names.ts";
import type { EtcdView, MemberPod, ClusterWorld } from "../observe/world.ts";

interface Silence {
  readonly reason: Extract<ReadyReason, "MemberCannotStart" | "MembersUnreachable">;
  readonly sentence: string;
}

/** Milliseconds since a pod was made after which its silence says something. */
const longEnough = 60_000;

export function silencesOf({ pods, etcd }: ClusterWorld, now: number): Silence[] {
  const answered = answeredIn(etcd);
  const silent = pods.filter(
    ({ name, createdAt, state, terminating }) =>
      state.t === "running" && !terminating && !answered.has(name) && now - createdAt > longEnough,
  );
  return silent.flatMap((pod) => silence(pod, etcd));
}

function silence({ name, ready, readyOnce }: MemberPod, etcd: EtcdView): Silence[] {
  const unreadable = "unreadable" in etcd ? etcd.unreadable?.get(name) : undefined;
  if (unreadable !== undefined)
    return [
      {
        reason: "MembersUnreachable",
        sentence: `Pod ${name} answers, but not as etcd does, so its answers are ignored: ${unreadable}. Set spec.image, or spec.repository and spec.version, to an image of etcd.`,
      },
    ];
  // One of several is reported as unhealthy, whatever the reason is.
  if (ready && etcd.t === "silent")
    return [
      {
        reason: "MembersUnreachable",
        sentence: `Pod ${name} is ready according to its kubelet, but does not answer the operator. Check that nothing, such as a NetworkPolicy, keeps the operator from port ${ports.client} of the members.`,
      },
    ];
  if (ready || readyOnce === true) return [];
  return [
    {
      reason: "MemberCannotStart",
      sentence: `Pod ${name}: etcd runs, but does not serve. \`kubectl logs ${name}\` shows what it waits for; members must reach each other's port ${ports.peer} under the names that spec.pod.ClusterDomain gives them.`,
    },
  ];
}

export function answeredIn(etcd: EtcdView): ReadonlySet<MemberName> {
  if (etcd.t === "nobody" || etcd.t === "silent") return new Set();
  if (etcd.t === "accessDenied") return new Set(etcd.refusing);
  return new Set([...etcd.answers.values(), ...etcd.strangers].map(({ pod }) => pod));
}
