// A member that is lost is removed at once, so that the rest is a whole cluster again; the place that it leaves is
// filled by `grow`. Removing first is also the only order that etcd takes: it refuses to add while a voter is missing.
import type { Instance } from "../../assess/instances.ts";
import type { ClusterDecision } from "../actions.ts";
import { stepDown } from "../hand-over.ts";
import type { Situation } from "../rule.ts";
import { removeGone } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

/** One at a time, each in a reconcile of its own. Those that serve no more first: as long as they count, the others cannot go. */
export function replaceLost(situation: Situation): ClusterDecision | undefined {
  for (const { instance, because } of gone(situation)) {
    const removal = removeGone(situation, instance, because);
    if (removal === undefined) continue;
    return {
      actions: [...handOver(situation, instance), ...removal],
      because: `${instance.name} is taken out: ${because}`,
      requeueAfter: delays.atOnce,
    };
  }
  return undefined;
}

interface Gone {
  readonly instance: Instance;
  readonly because: string;
}

function gone({ instances, world }: Situation): readonly Gone[] {
  const candidates = instances.flatMap((instance): (Gone & { readonly rank: number })[] => {
    const { state, member } = instance;
    if (state.t === "lost") return [{ instance, because: state.because, rank: member.learner ? 3 : 0 }];
    if (state.t === "foreign")
      return [{ instance, because: `it is not a member that ${world.cluster.metadata.name} asked for`, rank: 1 }];
    if (state.t === "leaving") return [{ instance, because: state.because, rank: member.learner ? 3 : 2 }];
    return [];
  });
  return candidates.toSorted((a, b) => a.rank - b.rank || Number(a.instance.alive) - Number(b.instance.alive));
}

/**
 * A leader that is removed leaves the others to notice, which stops writes for an election; one that hands over does
 * not. With two voters there is no time for it: when the leaving one is dead, nothing can be decided any more.
 */
const handOver = (situation: Situation, instance: Instance) =>
  situation.voters.length < 3 ? [] : stepDown(situation, instance, "the leader is about to be removed");
