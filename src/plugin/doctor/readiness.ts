// What the condition Ready says: how bad it is, by the table of conditions, and what helps.
import { isIn, type ReadyReason, rowOf } from "../../api/conditions.ts";
import { ageInWords } from "../screen/words.ts";
import type { ClusterView } from "../view/cluster-view.ts";
import { type Examination, note, serious, warning } from "./finding.ts";

const named =
  (command: string) =>
  ({ name }: ClusterView): string =>
    command.replaceAll("NAME", name);

const edit = named("kubectl edit etcd NAME");
const pods = named("kubectl describe pods -l etcd_cluster=NAME");
const watch = named("kubectl etcd watch NAME");

/** The last EtcdBackup that has something to restore. */
function restore({ name, backups }: ClusterView): string {
  const usable = backups === "unknown" ? [] : backups.filter(({ lastSuccess }) => lastSuccess !== undefined);
  return `kubectl etcd restore ${name} --from=${usable[0]?.name ?? "BACKUP"}`;
}

/** What helps. A change that goes on is watched. */
const commands: Readonly<Partial<Record<ReadyReason, (view: ClusterView) => string>>> = {
  QuorumLost: pods,
  DataLost: restore,
  Corrupt: restore,
  NoSpace: named("kubectl etcd defrag NAME && kubectl etcd ctl NAME alarm disarm"),
  InvalidSpec: edit,
  VersionDiffers: ({ name, version }) => `kubectl etcd upgrade ${name} --to=${version.wanted} --plan`,
  UpdateStopped: edit,
  MemberCannotStart: pods,
  MembersUnhealthy: named("kubectl etcd logs NAME"),
  MembersUnreachable: named("kubectl get networkpolicies"),
  Refused: edit,
  ForeignCluster: named("kubectl get pods -l etcd_cluster=NAME -o wide"),
  LeadersDisagree: named("kubectl etcd logs NAME"),
  VolumesForeign: named("kubectl get pvc -l etcd_cluster=NAME"),
  VolumesLeft: named("kubectl get pvc -l etcd_cluster=NAME --show-labels"),
  AuthRequired: edit,
  LoginRefused: edit,
  CertificatesInvalid: named("kubectl get secrets"),
  UpdateOnDelete: named("kubectl get pods -l etcd_cluster=NAME"),
};

const commandFor = (view: ClusterView): string => {
  const { reason } = view.ready;
  return ((isIn(commands, reason) ? commands[reason] : undefined) ?? watch)(view);
};

/** A change of members that takes longer than this deserves attention. */
const longSeconds = 15 * 60;

export const examineReadiness: Examination = (view) => {
  const { ready, name } = view;
  if (ready.status === "True") return [];
  if (ready.status === "Unknown")
    return [serious(`${name}: ${ready.sentence}`, "kubectl get deployments -A -l name=etcd-operator")];
  const row = rowOf("EtcdCluster", "Ready", ready);
  const what = `${ready.reason}: ${ready.sentence}`;
  const command = commandFor(view);
  if (row?.severity === "bad") return [serious(what, command)];
  if (row?.whatToDo !== undefined) return [warning(what, command)];
  const seconds = ready.forSeconds ?? 0;
  if (seconds < longSeconds) return [note(what, command)];
  return [warning(`For ${ageInWords(seconds * 1000)}, ${what}`, command)];
};
