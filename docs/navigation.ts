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
  {
    text: "Tasks",
    entries: [
      e("Overview", "README.md"),
      e("Quick start", "docs/quick-start.md"),
      e("Walk-through", "docs/walk-through.md"),
      e("Concepts", "docs/concepts.md"),
      e("Install", "docs/install.md"),
      e("Without Internet access", "docs/air-gap.md"),
      e("Create, scale, heal", "docs/clusters.md"),
      e("Connect", "docs/connect.md"),
      e("Upgrade and change", "docs/upgrades.md"),
      e("TLS", "docs/security.md"),
      e("Users and roles", "docs/auth.md"),
      e("Volumes", "docs/volumes.md"),
      e("Back up and restore", "docs/backups.md"),
      e("Take over from coreos", "docs/take-over.md"),
      e("Remove", "docs/install.md#remove-everything"),
      e("FAQ", "docs/faq.md"),
    ],
  },
  {
    text: "Operate",
    entries: [
      e("Production guide", "docs/production.md"),
      e("Troubleshooting", "docs/troubleshooting.md"),
      e("Lost quorum", "docs/clusters.md#when-quorum-is-lost"),
      e("kubectl etcd", "docs/kubectl-etcd.md"),
      e("Dashboard", "docs/dashboard.md"),
      e("Metrics, alerts, dashboards", "docs/observability.md"),
      e("Recovery times", "docs/recovery-times.md"),
      e("Report a weakness", "SECURITY.md"),
    ],
  },
  {
    text: "Reference",
    entries: [
      e("API", "docs/api.md"),
      e("Conditions", "docs/reference/conditions.md"),
      e("Events", "docs/reference/events.md"),
      e("Metrics", "docs/observability.md#metrics-of-the-operator"),
      e("Supported versions", "docs/support.md"),
      e("Flags", "docs/reference/flags.md"),
      e("Helm values", "charts/etcd-operator/README.md"),
      e("Benchmarks", "docs/benchmarks.md"),
      e("Robustness", "docs/robustness.md"),
      e("Releases", "docs/release.md"),
    ],
  },
  {
    text: "Runbooks",
    closed: true,
    entries: runbooks.map((page) => e(page.replace(/^.*\/|\.md$/g, ""), page)),
  },
  {
    text: "Contribute",
    closed: true,
    entries: [
      e("Contributing", "CONTRIBUTING.md"),
      e("Architecture", "ARCHITECTURE.md"),
      e("The lab", "docs/lab.md"),
      e("Controller runtime", "docs/controller-runtime.md"),
      e("Changelog", "CHANGELOG.md"),
      e("Roadmap", "ROADMAP.md"),
      e("Governance", "GOVERNANCE.md"),
      e("Maintainers", "MAINTAINERS.md"),
    ],
  },
];

export const chinese: readonly Group[] = [
  {
    text: "任务",
    entries: [
      e("概览", "README.zh-CN.md"),
      e("快速开始（英文）", "docs/quick-start.md"),
      e("上手演练", "docs/zh/walk-through.md"),
      e("概念", "docs/zh/concepts.md"),
      e("安装（英文）", "docs/install.md"),
      e("创建、扩缩容、自愈（英文）", "docs/clusters.md"),
      e("连接（英文）", "docs/connect.md"),
      e("升级与变更（英文）", "docs/upgrades.md"),
      e("TLS（英文）", "docs/security.md"),
      e("用户与角色（英文）", "docs/auth.md"),
      e("持久卷（英文）", "docs/volumes.md"),
      e("备份与恢复（英文）", "docs/backups.md"),
      e("从 coreos 接管（英文）", "docs/take-over.md"),
      e("常见问题（英文）", "docs/faq.md"),
    ],
  },
  {
    text: "运维（英文）",
    entries: [
      e("生产指南", "docs/production.md"),
      e("故障排查", "docs/troubleshooting.md"),
      e("失去法定人数", "docs/clusters.md#when-quorum-is-lost"),
      e("kubectl etcd", "docs/kubectl-etcd.md"),
      e("仪表盘", "docs/dashboard.md"),
      e("指标、告警与运行手册", "docs/observability.md"),
      e("恢复时间", "docs/recovery-times.md"),
    ],
  },
  {
    text: "参考（英文）",
    entries: [
      e("API", "docs/api.md"),
      e("状况", "docs/reference/conditions.md"),
      e("事件", "docs/reference/events.md"),
      e("参数", "docs/reference/flags.md"),
    ],
  },
];
