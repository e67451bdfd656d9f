// `replace-member`: has the operator put a new member in the place of one, as if that one were lost.
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import type { Call, Command } from "../command.ts";
import { confirm, yesFlag } from "../confirm.ts";
import { podNamed } from "../members-to-talk-to.ts";
import { type Target, readTarget } from "../one-cluster.ts";
import { Refusal } from "../place/refusal.ts";
import { readClusters, readPods } from "../permissions.ts";
import { answer } from "../screen/structured.ts";
import { valueOr } from "../observe/observe.ts";
import type { ClusterView } from "../view/cluster-view.ts";
import { whyNobodyReplaces } from "../view/standstill.ts";

export const replaceMemberCommand: Command = {
  name: "replace-member",
  what: "Replace a member with a new one.",
  details:
    "Deletes its pod and, if it has one, its claim: on its volume the same member would come back. The operator then removes\nit from etcd, and a new one joins, copies the data and gets its vote. Refused while the others are not all healthy, or\nwould not be a quorum, and where the operator would not make a new one: on a paused cluster, with a spec that is not\nvalid, during a restore, without an operator.",
  arguments: [
    { name: "NAME", is: "needed", of: "cluster" },
    { name: "MEMBER", is: "needed", of: "member" },
  ],
  flags: [yesFlag],
  examples: [{ what: "A member whose disk is slow", line: "replace-member my-etcd my-etcd-2b7kq9xw4c" }],
  permissions: [
    readClusters,
    { ...readPods, verbs: ["list", "delete"] },
    {
      group: "",
      resource: "persistentvolumeclaims",
      verbs: ["list", "delete"],
      without: "Not for members without volumes.",
    },
    {
      group: "coordination.k8s.io",
      resource: "leases",
      verbs: ["list"],
      scope: "cluster",
      without: "Without it, the command cannot check that an operator runs.",
    },
  ],
  async run(call) {
    const [, member = ""] = call.arguments;
    const { volume } = await replaceable(call, member);
    const also = volume === undefined ? "" : " Its volume is deleted, too.";
    await confirm(call, `This deletes ${member}, and a new member copies the data of the others.${also}`);
    // Minutes may have passed, and the cluster may be another.
    const { pod, volume: claim, target } = await replaceable(call, member);
    const { reach, key } = target;
    if (claim !== undefined) await reach.api.delete(PersistentVolumeClaim, keyOf(claim), preconditionOf(claim));
    await reach.api.delete(Pod, keyOf(pod), preconditionOf(pod));
    const said = `Deleted ${member}. Follow the new member with \`kubectl etcd watch ${key.name}\`.`;
    return answer(call, said, { replaced: member });
  },
};

interface Replaceable {
  readonly target: Target;
  readonly pod: Pod;
  /** The claim that it has its data in; undefined: its data goes with its pod. */
  readonly volume: PersistentVolumeClaim | undefined;
}

/** Read now, and refused where a member would be missing afterwards. */
async function replaceable(call: Call, member: string): Promise<Replaceable> {
  const target = await readTarget(call);
  const { observed, view } = target;
  const pod = podNamed(target, member);
  const standsStill = whyNobodyReplaces(observed);
  if (standsStill !== undefined) throw new Refusal(`${standsStill} Nothing was done.`);
  refuseUnlessSafe(view, member);
  const claimed = pod.spec?.volumes?.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
  if (claimed === undefined || claimed.length === 0) return { target, pod, volume: undefined };
  const volume = valueOr(observed.claims, []).find(({ metadata }) => claimed.includes(metadata?.name ?? ""));
  if (volume === undefined)
    throw new Refusal(
      `The claim ${claimed.join(", ")} cannot be read, and the same member would come back on it. Nothing was done.`,
    );
  return { target, pod, volume };
}

const preconditionOf = ({ metadata }: Pod | PersistentVolumeClaim) =>
  metadata?.uid === undefined ? {} : { uid: metadata.uid };

/** 3 voters: without this one 2 are left, and 2 are needed to remove it. 2 voters: 1 is left, and 2 are needed. */
function refuseUnlessSafe({ name, members, quorum }: ClusterView, member: string): void {
  const others = members.filter((one) => one.name !== member);
  const sick = others.filter(({ health }) => health !== "healthy");
  if (sick.length > 0)
    throw new Refusal(
      `Another member of ${name} is not healthy (${sick.map((one) => one.name).join(", ")}): replace one at a time. \`kubectl etcd doctor ${name}\` says what to do.`,
    );
  const left = others.filter(({ role }) => role === "leader" || role === "voter").length;
  if (left < quorum.needed)
    throw new Refusal(
      `Without ${member} ${left} of ${quorum.voters} voters are left, and ${quorum.needed} are needed: scale up first, with \`kubectl scale etcd ${name} --replicas=3\`.`,
    );
}
