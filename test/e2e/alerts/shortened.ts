// The rules as a test can wait for them: the same expressions, with less patience and shorter times. Only what is a time is
// changed, each by name; test/observability checks that.
import { alertGroups } from "../../../observability/alerts/alerts.ts";
import type { Alert } from "../../../observability/alert.ts";
import { ruleFile, ruleOf } from "../../../observability/rules.ts";

/** Times in the expression of an alert: as they are shipped, and in tests. */
export const shorterTimes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  EtcdLeaderChanges: { "[15m]": "[30s]", "[20m]": "[40s]" },
  EtcdRollStuck: { "[30m]": "[20s]" },
  EtcdSlowFsync: { "[5m]": "[30s]" },
  EtcdSlowCommit: { "[5m]": "[30s]" },
  EtcdBackupOld: { "> 3600": "> 20" },
  EtcdBackupVerificationFailed: { "[1d]": "[30s]" },
  EtcdRestoreFailed: { "[1h]": "[30s]" },
};

/** It fires at once. */
export const atOnce = (alert: Alert): Alert => ({ ...alert, for: "0s" });

export function shortened(alert: Alert): Alert {
  const times = Object.entries(shorterTimes[alert.name] ?? {});
  return atOnce({ ...alert, expr: times.reduce((expr, [long, short]) => expr.replaceAll(long, short), alert.expr) });
}

/** The label of the same rules as they are shipped, which are evaluated beside those that a test changes. */
export const shipped = { patience: "shipped" };

/** A file of rules, with what a test makes of each. */
export function rulesWith(change: (alert: Alert) => Alert): object {
  const unchanged = ruleFile()
    .groups.flatMap(({ rules }) => rules)
    .map((rule) => ({ ...rule, labels: { ...rule.labels, ...shipped } }));
  const changed = alertGroups.map(({ name, alerts }) => ({ name, rules: alerts.map(change).map(ruleOf) }));
  return { groups: [...changed, { name: "as-shipped", rules: unchanged }] };
}
