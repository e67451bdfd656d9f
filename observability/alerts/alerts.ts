// All alerts, in groups as Prometheus evaluates them.
import type { Alert, AlertGroup } from "../alert.ts";
import { backupAlerts } from "./backups.ts";
import { certificateAlerts } from "./certificates.ts";
import { databaseAlerts } from "./database.ts";
import { memberAlerts } from "./members.ts";
import { operatorAlerts } from "./operator.ts";
import { quorumAlerts } from "./quorum.ts";

export const alertGroups: readonly AlertGroup[] = [
  { name: "etcd-quorum", alerts: quorumAlerts },
  { name: "etcd-members", alerts: memberAlerts },
  { name: "etcd-database", alerts: databaseAlerts },
  { name: "etcd-backups", alerts: backupAlerts },
  { name: "etcd-certificates", alerts: certificateAlerts },
  { name: "etcd-operator", alerts: operatorAlerts },
];

export const alerts: readonly Alert[] = alertGroups.flatMap((group) => group.alerts);
