// All clusters as one table, and a sentence for each that is not ready.
import { conditionOf } from "../../api/conditions.ts";
import type { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { type EtcdCluster, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type Cell, type Column, tableLines } from "../screen/table.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import { ageInWords, shareInWords, timeOf } from "../screen/words.ts";
import { item } from "../screen/wrap.ts";
import { type Found, isOf, valueOr } from "../observe/observe.ts";
import type { TextLayout } from "./cluster-text.ts";
import { backupOf } from "./cluster-view.ts";
import { rowHue } from "./hues.ts";
import { defined } from "../../defined.ts";

export interface FleetRow {
  readonly namespace: string;
  readonly name: string;
  readonly ready: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly sentence: string;
  /** Healthy voters out of the size, as in 3/3. */
  readonly members: string;
  readonly version: string;
  readonly leader?: string;
  readonly dbSize?: number;
  readonly dbQuota?: number;
  readonly lastBackupSeconds?: number;
  readonly ageSeconds?: number;
  readonly paused: boolean;
}

export interface FleetView {
  readonly clusters: readonly FleetRow[];
  readonly notes: readonly string[];
}

export function fleetOf(
  clusters: readonly EtcdCluster[],
  backups: Found<readonly EtcdBackup[]>,
  now: number,
): FleetView {
  const rows = clusters
    .map((cluster) => rowOf(cluster, valueOr(backups, []), now))
    .toSorted((a, b) => a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name));
  return { clusters: rows, notes: backups.t === "missing" ? [`Backups are not shown: ${backups.why}.`] : [] };
}

function rowOf(stored: EtcdCluster, backups: readonly EtcdBackup[], now: number): FleetRow {
  const { metadata, status, spec } = withDefaults(stored);
  const ready = conditionOf(status.conditions, "Ready");
  const own = backups.filter((one) => one.metadata?.namespace === metadata.namespace && isOf(one, metadata.name));
  const ages = own.flatMap((one) => backupOf(one, now).ageSeconds ?? []);
  const created = timeOf(metadata.creationTimestamp);
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    ready: ready?.status ?? "Unknown",
    reason: ready?.reason ?? "",
    sentence: ready?.message ?? "The operator has not reconciled this cluster yet.",
    members: status.ready ?? `0/${spec.size}`,
    version: status.targetVersion === "" ? spec.version : `${status.currentVersion || "?"} → ${spec.version}`,
    ...defined({ leader: status.leader, dbSize: status.dbSize, dbQuota: status.dbQuota }),
    ...(ages.length > 0 && { lastBackupSeconds: Math.min(...ages) }),
    ...(created !== undefined && { ageSeconds: Math.max(0, Math.round((now - created) / 1000)) }),
    paused: spec.paused,
  };
}

const columns: readonly Column[] = [
  { title: "CLUSTER", droppable: 0 },
  { title: "MEMBERS", droppable: 0 },
  { title: "STATUS", droppable: 0 },
  { title: "VERSION", droppable: 1 },
  { title: "LEADER", droppable: 5 },
  { title: "DB SIZE", droppable: 3, align: "right" },
  { title: "OF QUOTA", droppable: 4, align: "right" },
  { title: "LAST BACKUP", droppable: 2, align: "right" },
  { title: "AGE", droppable: 6, align: "right" },
];

export function fleetText({ clusters, notes }: FleetView, layout: TextLayout, scope: "namespace" | "all"): string {
  if (clusters.length === 0) return ["No EtcdClusters.", ...notes].join("\n");
  const named: readonly Column[] = scope === "all" ? [{ title: "NAMESPACE", droppable: 0 }, ...columns] : columns;
  const rows = clusters.map((row) => [...(scope === "all" ? [row.namespace] : []), ...cellsOf(row)]);
  const said = clusters
    .filter(({ ready }) => ready !== "True")
    .flatMap(({ namespace, name, sentence }) =>
      item(`${scope === "all" ? `${namespace}/` : ""}${name}: ${sentence}`, layout.columns),
    );
  return [
    ...tableLines({ columns: named, rows }, layout.columns, layout.paint),
    ...(said.length === 0 ? [] : ["", ...said]),
    ...(notes.length === 0 ? [] : ["", ...notes.flatMap((note) => item(note, layout.columns))]),
  ].join("\n");
}

function cellsOf(row: FleetRow): Cell[] {
  const status = row.ready === "True" ? "Ready" : row.reason || "Unknown";
  return [
    row.name,
    row.members,
    { text: row.paused ? `${status}, paused` : status, hue: rowHue(row) },
    row.version,
    row.leader ?? "-",
    row.dbSize === undefined ? "-" : bytesInWords(row.dbSize),
    row.dbSize === undefined || row.dbQuota === undefined ? "-" : shareInWords(row.dbSize, row.dbQuota),
    row.lastBackupSeconds === undefined
      ? { text: "never", hue: "warning" }
      : `${ageInWords(row.lastBackupSeconds * 1000)} ago`,
    row.ageSeconds === undefined ? "-" : ageInWords(row.ageSeconds * 1000),
  ];
}
