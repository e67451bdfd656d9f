// Actions in a few words each, for tables: members of `demo` by their letter, new ones as `new1`, `new2`, in order.
import type { ClusterAction } from "../plan/actions.ts";

export function inWords(actions: readonly ClusterAction[]): readonly string[] {
  const fresh = new Map<string, string>();
  const name = (member: string): string => {
    const short = member.replace(/^demo-/, "");
    if (!/^[b-z2-9]{10}$/.test(short)) return short;
    const known = fresh.get(short) ?? `new${fresh.size + 1}`;
    fresh.set(short, known);
    return known;
  };
  return actions.map((action) => words(action, name));
}

function words(action: ClusterAction, name: (member: string) => string): string {
  switch (action.do) {
    case "applyService":
      return `${action.service} service`;
    case "applyBudget":
      return `budget ${action.minAvailable}`;
    case "labelPod":
      return `label ${name(action.member)}`;
    case "guardPod":
      return `guard ${name(action.member)}`;
    case "resizePod":
      return `resize ${name(action.member)}`;
    case "makeCertificates":
      if (action.what === "withoutPrevious") return `forget the CA before ${action.authority}`;
      return `make ${action.what === "authority" ? action.authority : action.what.join(", ")}${action.by === "previous" ? " by the CA before" : ""}`;
    case "writeCertificate":
      return `write ${action.use}`;
    case "noteTrust":
      return `note what ${name(action.member)} trusts`;
    case "startAgain":
      return `start ${name(action.member)} again`;
    case "renewFiles":
      return `renew the files of ${name(action.member)}`;
    case "markServing":
      return `${name(action.member)} serves`;
    case "relabelPod":
      return `relabel ${name(action.member)}`;
    case "createImageCheck":
      return `try ${action.image} on ${action.node}`;
    case "readImageCheck":
      return `read ${action.name}`;
    case "deleteImageCheck":
      return `delete ${action.name}`;
    case "changeImage":
      return `change ${name(action.member)} from ${action.from.version} to ${action.to.version}${action.afterComparing ? " after comparing" : ""}`;
    case "confirmChange":
      return `confirm ${name(action.member)}`;
    case "enableDowngrade":
      return `enable downgrade to ${action.to}`;
    case "cancelDowngrade":
      return "cancel downgrade";
    case "disarmNoSpace":
      return "disarm";
    case "recordLogVersion":
      return `log of ${action.version}`;
    case "createSeed":
      return `seed ${name(action.member)}`;
    case "recordClusterId":
      return `latch ${action.clusterId}`;
    case "addMember":
      return `add ${action.placeholder === true ? "placeholder " : ""}${action.as} ${name(action.member)}`;
    case "createPod":
      return `pod ${name(action.member)}`;
    case "recreatePod":
      return `pod ${name(action.member)} on its volume in ${action.release.version}`;
    case "noteOnClaim":
      return `note on claim ${name(action.member)}`;
    case "noteSettings":
      return `settings on the claim of ${name(action.member)}`;
    case "ownClaim":
      return `own claim ${name(action.member)}`;
    case "growClaim":
      return `grow claim ${name(action.member)} to ${action.to}`;
    case "retireClaim":
      return `retire claim ${name(action.member)}`;
    case "deleteClaim":
      return `delete claim ${name(action.member)}`;
    case "adoptClaim":
      return `adopt claim ${name(action.member)}`;
    case "promote":
      return `promote ${name(action.member)}`;
    case "updatePeerUrl":
      return `address ${name(action.member)}`;
    case "moveLeader":
      return `lead ${letterOf(action.to)}`;
    case "removeMember":
      return `remove ${name(action.member)}`;
    case "beginRestore":
      return `begin restore ${action.name}`;
    case "beginSeed":
      return `begin seed of ${action.name}`;
    case "deletePod":
    default:
      return `delete ${name(action.member)}${action.force ? " by force" : action.soon ? " soon" : ""}`;
  }
}

/** The ids of sample members are their letters' codes. */
const letterOf = (id: string): string => String.fromCharCode(Number.parseInt(id, 16));
