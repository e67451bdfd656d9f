// The phases of an EtcdRestore: which of them is its end.
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";

export type RestorePhase = NonNullable<CompleteEtcdRestore["status"]["phase"]>;

/** Done is done: it is never begun again. One that etcd-operator 0.9 has carried out has no phase. */
export function isOver({ status: { phase, succeeded, reason = "" } }: CompleteEtcdRestore): boolean {
  return phase === "Succeeded" || phase === "Failed" || (phase === undefined && (succeeded || reason !== ""));
}
