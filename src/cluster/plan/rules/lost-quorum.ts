// A cluster that cannot decide. Nothing is taken away from it: members that come back make it whole, and until then
// every copy of the data may be the one that counts.
import { memberOfPeerUrl } from "../../objects/names.ts";
import { deleteSecondVoterPod, quorum } from "../safety.ts";
import { type Decision, pace } from "../situation.ts";
import type { EtcdAnswers, World } from "../../observe/world.ts";
import { knowsMembers } from "./remake.ts";

export function waitForQuorum(world: World, now: number): Decision {
  const { etcd, pods } = world;
  if (etcd.t === "noQuorum") return startSecondVoter(world, etcd, now) ?? waitForVoters(etcd);
  if (pods.length === 0)
    return {
      actions: [],
      because: "all members are gone and their data with them: restore from a backup, or delete the cluster",
    };
  return {
    actions: [],
    because: `none of the ${pods.length} pods answers; those that come back keep their data`,
    lookAgainAfter: pace.later,
  };
}

function waitForVoters({ members, answers }: EtcdAnswers): Decision {
  const voters = members.filter(({ learner }) => !learner);
  const here = voters.filter(({ id }) => answers.has(id)).length;
  const because =
    voters.length === 0
      ? "no voter answers; those that come back keep their data"
      : `quorum is lost: ${here} of ${voters.length} voters answer and ${quorum(voters.length)} are needed`;
  return { actions: [], because, lookAgainAfter: pace.later };
}

/**
 * Where etcd knows no learners, adding a second voter takes the quorum from the first until the second runs. If the pass
 * ended between the two steps, only the pod of that member can bring it back. It starts empty and so must not have had
 * any data that counts, and it had none: the first voter was needed for all that was ever decided, and has it.
 */
function startSecondVoter(world: World, { members, answers }: EtcdAnswers, now: number): Decision | undefined {
  const [first, second] = members.toSorted((a, b) => Number(a.name === "") - Number(b.name === ""));
  if (members.length !== 2 || first === undefined || second === undefined) return undefined;
  if (first.learner || second.learner || second.name !== "" || !answers.has(first.id)) return undefined;
  const name = memberOfPeerUrl(world.cluster, second.peerUrls[0] ?? "");
  if (name === undefined) return undefined;
  const pod = world.pods.find((candidate) => candidate.name === name);
  const because = `${name} is the second of two voters and has never run`;
  if (pod === undefined) return { actions: [{ do: "createPod", member: name }], because, lookAgainAfter: pace.later };
  const stays = pod.state.t !== "ended" && knowsMembers(pod, members);
  const actions = stays ? [] : deleteSecondVoterPod(world, now, pod, "it cannot start as it is");
  return { actions, because, lookAgainAfter: pace.soon };
}
