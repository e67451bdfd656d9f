// Members that certificates keep apart: their etcd read a CA when it started, and by now its peers, or the operator, present a
// certificate of another. They are started again in place, one after another, and read the CA that is there. No quorum is
// waited for, because there may never be one before. Meanwhile members that are lost are taken out, and nobody is added,
// because nobody could join.
import type { Assessment } from "../../assess/assess.ts";
import { problemOf } from "../../assess/pods.ts";
import type { MemberPod } from "../../observe/world.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed } from "../rule.ts";
import { startAgain } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

const because = "it does not trust the certificates in use, and reads the CA when it starts";

export function reunite({ certificates, leader, instances, world }: Assessment): ClusterDecision | undefined {
  const { apart, writes } = certificates;
  const failed = world.pods.find(isWithoutItsImage);
  if (failed !== undefined)
    return {
      actions: startAgain(failed, failed.tls, "its node does not find its image under the other name"),
      because: `${failed.name} cannot be started under the other name of its image`,
      requeueAfter: delays.later,
    };
  const within = apart.filter(({ pod }) => pod.node.t === "ready");
  if (within.length === 0) return undefined;
  const why = `${listed(within.map(({ pod }) => pod.name))}: kept apart by certificates, and started again one after another`;
  const waiting = { actions: [], because: why, requeueAfter: delays.untilAccepted };
  // What they read is about to be written, or one of them has yet to read it.
  if (writes.has("peer") || writes.has("server") || world.pods.some(isStarting)) return waiting;
  // Who serves nobody stops nothing; the leader goes last.
  const serves = (pod: MemberPod): number => {
    const instance = instances.find((one) => one.pod === pod);
    if (instance?.alive !== true) return 0;
    return instance.member.id === leader ? 2 : 1;
  };
  const [next] = within
    .filter(({ files }) => files === "there")
    .toSorted((a, b) => serves(a.pod) - serves(b.pod) || (a.pod.name < b.pod.name ? -1 : 1));
  if (next === undefined) return waiting;
  return { actions: startAgain(next.pod, next.tls, because), because: why, requeueAfter: delays.untilAccepted };
}

/** It was told to, and runs on, or has yet to run again. */
function isStarting(pod: MemberPod): boolean {
  const { startedAgain, state, terminating, node } = pod;
  if (startedAgain === undefined || terminating || node.t !== "ready" || problemOf(pod) !== undefined) return false;
  return state.t !== "running" || state.restarts <= startedAgain.restarts;
}

/** The process is down already: with the reference that was asked for it comes up. */
const isWithoutItsImage = (pod: MemberPod): boolean =>
  pod.startedAgain?.under === "anotherName" &&
  pod.state.t === "starting" &&
  problemOf(pod) !== undefined &&
  !pod.terminating;
