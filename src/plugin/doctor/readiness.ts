// What the condition Ready says: each reason with how bad it is, and what helps.
import { ageInWords } from "../screen/words.ts";
import type { ClusterView } from "../view/cluster-view.ts";
import { type Examination, type Finding, note, serious, type Severity, warning } from "./finding.ts";

interface ReasonRow {
  readonly severity: Severity;
  command(view: ClusterView): string;
}

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

const rows: Readonly<Record<string, ReasonRow>> = {
  QuorumLost: { severity: "serious", command: pods },
  DataLost: { severity: "serious", command: restore },
  Corrupt: { severity: "serious", command: restore },
  NoSpace: { severity: "serious", command: named("kubectl etcd defrag NAME && kubectl etcd ctl NAME alarm disarm") },
  InvalidSpec: { severity: "serious", command: edit },
  VersionDiffers: {
    severity: "serious",
    command: ({ name, version }) => `kubectl etcd upgrade ${name} --to=${version.wanted} --plan`,
  },
  UpdateStopped: { severity: "serious", command: edit },
  MemberCannotStart: { severity: "serious", command: pods },
  MembersUnhealthy: { severity: "serious", command: named("kubectl etcd logs NAME") },
  MembersUnreachable: { severity: "serious", command: named("kubectl get networkpolicies") },
  Refused: { severity: "serious", command: edit },
  ForeignCluster: { severity: "serious", command: named("kubectl get pods -l etcd_cluster=NAME -o wide") },
  LeadersDisagree: { severity: "serious", command: named("kubectl etcd logs NAME") },
  VolumesDoomed: { severity: "serious", command: watch },
  VolumesForeign: { severity: "serious", command: named("kubectl get pvc -l etcd_cluster=NAME") },
  VolumesLeft: { severity: "serious", command: named("kubectl get pvc -l etcd_cluster=NAME --show-labels") },
  AuthRequired: { severity: "serious", command: edit },
  LoginRefused: { severity: "serious", command: edit },
  CertificatesInvalid: { severity: "serious", command: named("kubectl get secrets") },
  UpdateOnDelete: { severity: "warning", command: named("kubectl get pods -l etcd_cluster=NAME") },
};

/** A change of members that takes longer than this deserves a look. */
const longSeconds = 15 * 60;

export const examineReadiness: Examination = (view) => {
  const { ready, name } = view;
  if (ready.status === "True") return [];
  if (ready.status === "Unknown")
    return [serious(`${name}: ${ready.sentence}`, "kubectl get deployments -A -l name=etcd-operator")];
  const row = rows[ready.reason];
  const what = `${ready.reason}: ${ready.sentence}`;
  if (row !== undefined) return [{ severity: row.severity, what, command: row.command(view) } satisfies Finding];
  const seconds = ready.forSeconds ?? 0;
  if (seconds < longSeconds) return [note(what, watch(view))];
  return [warning(`For ${ageInWords(seconds * 1000)}, ${what}`, watch(view))];
};
