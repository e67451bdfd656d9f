// The pod of a cluster that a command talks to: the one that was named, else one that serves.
import type { Pod } from "../kube/objects/kinds.ts";
import { didYouMean } from "./line/nearest.ts";
import type { Target } from "./one-cluster.ts";
import { Refusal } from "./place/refusal.ts";

export function podNamed({ observed, view }: Target, name: string): Pod {
  const pods = podsOf(observed);
  const pod = pods.find(({ metadata }) => metadata?.name === name);
  if (pod !== undefined) return pod;
  const names = pods.flatMap(({ metadata }) => metadata?.name ?? []);
  throw new Refusal(
    `${view.name} has no member ${name}.${didYouMean(name, names)} Available: ${names.join(", ") || "none"}.`,
  );
}

/** The leader, if it serves: it always knows the newest. */
export function servingPod(target: Target): Pod {
  const { members, name } = target.view;
  const healthy = members.filter((member) => member.healthy);
  const best = healthy.find(({ role }) => role === "leader") ?? healthy[0];
  if (best === undefined)
    throw new Refusal(
      `No member of ${name} is healthy: \`kubectl etcd doctor ${name}\` says why. Use --member to talk to one anyway.`,
    );
  return podNamed(target, best.name);
}

function podsOf(observed: Target["observed"]): readonly Pod[] {
  if (observed.pods.t === "found") return observed.pods.value;
  throw new Refusal(`The members cannot be found: ${observed.pods.why}.`);
}
