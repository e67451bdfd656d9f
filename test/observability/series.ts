// Series for tests of alerts: what Prometheus would have scraped, a sample a minute.

/** A value, or nothing, for this many minutes. */
type Stretch = readonly [value: number | "nothing", minutes: number];

export type Series = Readonly<Record<string, readonly Stretch[]>>;

export const samplesOf = (stretches: readonly Stretch[]): string =>
  stretches
    .flatMap(([value, minutes]) => Array.from({ length: minutes }, () => (value === "nothing" ? "_" : String(value))))
    .join(" ");

const labelled = (name: string, labels: Readonly<Record<string, string>>): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(",")}}`;

/** What the operator says of the cluster shop/demo, with the labels that scraping adds. */
export const ofDemo = (what: string, labels: Readonly<Record<string, string>> = {}): string =>
  labelled(`etcd_operator_cluster_${what}`, { namespace: "shop", etcd_cluster: "demo", pod: "operator-1", ...labels });

/** What a member of it says of itself. */
export const ofDemoMember = (metric: string, pod: string, labels: Readonly<Record<string, string>> = {}): string =>
  labelled(metric, { namespace: "shop", etcd_cluster: "demo", pod, ...labels });

/** What the operator says of the EtcdBackup shop/nightly. */
export const ofNightly = (what: string, labels: Readonly<Record<string, string>> = {}): string =>
  labelled(`etcd_operator_backup_${what}`, { namespace: "shop", name: "nightly", pod: "operator-1", ...labels });

/** What the operator says of itself, of which there may be several. */
export const ofOperator = (metric: string, labels: Readonly<Record<string, string>> = {}): string =>
  labelled(metric, { namespace: "operators", pod: "operator-1", ...labels });

/** So much more each minute, for this many minutes: a counter. */
export const growing = (from: number, by: number, minutes: number): Stretch[] =>
  Array.from({ length: minutes }, (_, minute): Stretch => [from + by * minute, 1]);
