// The structure of the documentation: what belongs together, in which order, in both languages. The site is made from it;
// files stay where they are.

export interface Entry {
  readonly text: string;
  /** A page of the tree, with or without the anchor of a heading. */
  readonly page: string;
}

export interface Group {
  readonly text: string;
  readonly entries: readonly Entry[];
  /** Shown closed until somebody opens it. */
  readonly closed?: true;
}

const e = (text: string, page: string): Entry => ({ text, page });

export const english = (runbooks: readonly string[]): readonly Group[] => [
  { text: "Start", entries: [e("Overview", "README.md"), e("Walk-through", "docs/walk-through.md")] },
  { text: "Concepts", entries: [e("Concepts", "docs/concepts.md"), e("Architecture", "ARCHITECTURE.md")] },
  {
    text: "Tasks",
    entries: [
      e("Install", "docs/install.md"),
      e("Create, scale, heal", "docs/clusters.md"),
      e("Connect", "docs/connect.md"),
      e("Upgrade and change", "docs/upgrades.md"),
      e("TLS", "docs/security.md"),
      e("Users and roles", "docs/auth.md"),
      e("Volumes", "docs/volumes.md"),
      e("Back up and restore", "docs/backups.md"),
      e("Lost quorum", "docs/clusters.md#when-quorum-is-lost"),
      e("Take over from coreos", "docs/take-over.md"),
      e("Remove", "docs/install.md#remove-everything"),
      e("kubectl etcd", "docs/kubectl-etcd.md"),
      e("Dashboard", "docs/dashboard.md"),
      e("Metrics, alerts, dashboards", "docs/observability.md"),
    ],
  },
  {
    text: "Reference",
    entries: [
      e("API", "docs/api.md"),
      e("Flags", "docs/reference/flags.md"),
      e("Conditions", "docs/reference/conditions.md"),
      e("Events", "docs/reference/events.md"),
      e("Metrics", "docs/observability.md#metrics-of-the-operator"),
      e("Helm values", "charts/etcd-operator/README.md"),
    ],
  },
  { text: "Troubleshooting", entries: [e("Troubleshooting", "docs/troubleshooting.md")] },
  {
    text: "Recovery times",
    entries: [e("Recovery times", "docs/recovery-times.md"), e("Benchmarks", "docs/benchmarks.md")],
  },
  {
    text: "Runbooks",
    closed: true,
    entries: runbooks.map((page) => e(page.replace(/^.*\/|\.md$/g, ""), page)),
  },
  {
    text: "Work on it",
    closed: true,
    entries: [
      e("Contributing", "CONTRIBUTING.md"),
      e("The lab", "docs/lab.md"),
      e("Controller runtime", "docs/controller-runtime.md"),
      e("Changelog", "CHANGELOG.md"),
    ],
  },
];

export const chinese: readonly Group[] = [
  { text: "开始", entries: [e("概览", "README.zh-CN.md"), e("上手演练", "docs/zh/walk-through.md")] },
  { text: "概念", entries: [e("概念", "docs/zh/concepts.md")] },
  {
    text: "操作（英文）",
    entries: [
      e("安装", "docs/install.md"),
      e("创建、扩缩容、自愈", "docs/clusters.md"),
      e("连接", "docs/connect.md"),
      e("升级与变更", "docs/upgrades.md"),
      e("TLS", "docs/security.md"),
      e("用户与角色", "docs/auth.md"),
      e("持久卷", "docs/volumes.md"),
      e("备份与恢复", "docs/backups.md"),
      e("失去法定人数", "docs/clusters.md#when-quorum-is-lost"),
      e("从 coreos 接管", "docs/take-over.md"),
      e("kubectl etcd", "docs/kubectl-etcd.md"),
      e("仪表盘", "docs/dashboard.md"),
      e("指标、告警、面板", "docs/observability.md"),
    ],
  },
  {
    text: "参考（英文）",
    entries: [
      e("API", "docs/api.md"),
      e("参数", "docs/reference/flags.md"),
      e("状况", "docs/reference/conditions.md"),
      e("事件", "docs/reference/events.md"),
    ],
  },
  {
    text: "出了问题（英文）",
    entries: [e("故障排查", "docs/troubleshooting.md"), e("恢复时间", "docs/recovery-times.md")],
  },
];
