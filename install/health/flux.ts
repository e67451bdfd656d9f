// Health checks for Flux, as healthCheckExprs of a Kustomization. Flux asks whether it is in progress, whether it failed, then
// whether it is current; until one of them holds it waits. Once one has failed it waits for none any more.
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { yamlOf } from "../manifest.ts";
import { problemsThatMean, readyReasonsThatMean } from "../../src/api/conditions.ts";

interface Check {
  readonly kind: string;
  readonly failed: string;
  readonly current: string;
}

const seen = "has(status.observedGeneration) && status.observedGeneration == metadata.generation";
const someCondition = (test: string): string => `has(status.conditions) && status.conditions.exists(c, ${test})`;
const listed = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(", ");
const phaseIs = (...phases: string[]): string => `has(status.phase) && status.phase in [${listed(phases)}]`;

/** Expressions take the place of kstatus as a whole, which would have seen to this. */
const inProgress = "has(metadata.deletionTimestamp)";

/** A paused cluster, or one whose members wait to be deleted, is as somebody wants it: it is not waited for. */
const waitsAsAsked = `has(spec.paused) && spec.paused || ${someCondition(
  `c.type == 'Ready' && c.reason in [${listed(readyReasonsThatMean("suspended"))}]`,
)}`;

export const fluxChecks: readonly Check[] = [
  {
    kind: "EtcdCluster",
    failed: `${seen} && ${someCondition(
      `c.type == 'Stalled' && c.status == 'True' || c.type == 'Ready' && c.reason in [${listed(readyReasonsThatMean("degraded", "stalled"))}]`,
    )}`,
    current: `${seen} && (${waitsAsAsked} || ${someCondition("c.type == 'Ready' && c.status == 'True'")})`,
  },
  {
    kind: "EtcdBackup",
    failed: `${seen} && (${phaseIs("Failed")} || ${someCondition(
      `c.type == 'Problem' && c.status == 'True' && !(c.reason in [${listed(problemsThatMean("progressing"))}])`,
    )})`,
    current: `${seen} && (${phaseIs("Succeeded", "Scheduled", "Suspended")} || has(status.lastBackup))`,
  },
  {
    // Those of etcd-operator 0.9 have no phase.
    kind: "EtcdRestore",
    failed: `${phaseIs("Failed")} || has(status.reason) && status.reason != '' || ${someCondition(
      "c.type == 'Stalled' && c.status == 'True'",
    )}`,
    current: `${phaseIs("Succeeded")} || has(status.succeeded) && status.succeeded`,
  },
];

export function fluxSnippet(): string {
  const apiVersion = `${EtcdCluster.group}/${EtcdCluster.version}`;
  const healthCheckExprs = fluxChecks.map(({ kind, failed, current }) => ({
    apiVersion,
    kind,
    inProgress,
    failed,
    current,
  }));
  return `# Made by \`node install/generate.ts\`. Put it into the spec of the Kustomization of Flux that applies your clusters.
${yamlOf({ wait: true, healthCheckExprs })}`;
}
