// `replace-member`: has the operator put a new member in the place of one, as if that one were lost.
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import type { Command } from "../command.ts";
import { confirm, yesFlag } from "../confirm.ts";
import { podNamed } from "../members-to-talk-to.ts";
import { lookAt } from "../one-cluster.ts";
import { Refusal } from "../place/refusal.ts";
import { readClusters, readPods } from "../rights.ts";
import { structured } from "../screen/structured.ts";
import { valueOr } from "../snapshot/snapshot.ts";
import type { ClusterView } from "../view/cluster-view.ts";

export const replaceMemberCommand: Command = {
  name: "replace-member",
  what: "Have the operator replace a member by a new one.",
  details:
    "Deletes its pod and, if it has one, its claim: with its volume the same member would come back. The operator then removes\nit from etcd, and a new one joins, copies the data and gets its vote. Refused while the others are not all healthy, or\nwould not be a quorum.",
  arguments: [
    { name: "NAME", is: "needed", of: "cluster" },
    { name: "MEMBER", is: "needed", of: "member" },
  ],
  flags: [yesFlag],
  examples: [{ what: "A member whose disk is slow", line: "replace-member my-etcd my-etcd-2b7kq9xw4c" }],
  rights: [
    readClusters,
    { ...readPods, verbs: ["list", "delete"] },
    {
      group: "",
      resource: "persistentvolumeclaims",
      verbs: ["list", "delete"],
      without: "Not for members without volumes.",
    },
  ],
  async run(call) {
    const looked = await lookAt(call);
    const [, member = ""] = call.arguments;
    const pod = podNamed(looked, member);
    const { snapshot, view, reach, key } = looked;
    refuseUnlessSafe(view, member);
    const hasVolume = pod.spec?.volumes?.some(
      ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === member,
    );
    const claim = valueOr(snapshot.claims, []).find(({ metadata }) => metadata?.name === member);
    if (hasVolume === true && claim === undefined)
      throw new Refusal(
        `The claim ${member} cannot be read, and on it the same member would come back: nothing was done.`,
      );
    const volume = hasVolume === true ? " Its volume is deleted with it." : "";
    await confirm(call, `${member} is deleted, and a new member copies the data of the others.${volume}`);
    if (claim !== undefined) await reach.api.delete(PersistentVolumeClaim, keyOf(claim), preconditionOf(claim));
    await reach.api.delete(Pod, keyOf(pod), preconditionOf(pod));
    const said = `${member} goes. \`kubectl etcd watch ${key.name}\` shows the new one come.`;
    call.screen.print(call.output === "text" ? said : structured(call.output, { replaced: member }));
    return 0;
  },
};

const preconditionOf = ({ metadata }: Pod | PersistentVolumeClaim) =>
  metadata?.uid === undefined ? {} : { uid: metadata.uid };

/** 3 voters: without this one 2 are left, and 2 are needed to remove it. 2 voters: 1 is left, and 2 are needed. */
export function refuseUnlessSafe({ name, members, quorum }: ClusterView, member: string): void {
  const others = members.filter((one) => one.name !== member);
  const sick = others.filter(({ health }) => health !== "healthy");
  if (sick.length > 0)
    throw new Refusal(
      `Another member of ${name} is not healthy (${sick.map((one) => one.name).join(", ")}): one at a time. \`kubectl etcd doctor ${name}\` says what to do.`,
    );
  const left = others.filter(({ role }) => role === "leader" || role === "voter").length;
  if (left < quorum.needed)
    throw new Refusal(
      `Without ${member} ${left} of ${quorum.voters} voters are left, and ${quorum.needed} are needed: scale up first, with \`kubectl scale etcd ${name} --replicas=3\`.`,
    );
}
