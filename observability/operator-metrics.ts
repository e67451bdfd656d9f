// Every metric of the operator, taken from the registry that it serves.
import { BackupMetrics } from "../src/backup/metrics.ts";
import { ClusterMetrics } from "../src/cluster/metrics.ts";
import { addProcessMetrics } from "../src/kube/process/process-metrics.ts";
import { RuntimeMetrics } from "../src/kube/process/runtime-metrics.ts";
import { RestoreMetrics } from "../src/restore/metrics.ts";

interface OperatorMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

export function operatorMetrics(): readonly OperatorMetric[] {
  const { registry } = new RuntimeMetrics();
  for (const Metrics of [ClusterMetrics, BackupMetrics, RestoreMetrics]) void new Metrics(registry);
  const stop = addProcessMetrics(registry);
  const text = registry.text();
  stop();
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(([, name = "", help = "", type = ""]) => ({
    name,
    help,
    type,
  }));
}
