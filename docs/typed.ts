// Which suite types the commands of which page, and which commands nobody types, with the reason. A test holds every block
// of commands in the docs against these tables, so that a new one is typed or has a reason.

export interface TypedPage {
  readonly page: string;
  readonly by:
    | "test/e2e/examples.test.ts"
    | "test/e2e-install/docs.test.ts"
    | "test/e2e-install/monitoring.test.ts"
    | "test/e2e-rolls/rolls/inherited.ts";
}

/** In the order in which they are typed: the first installs the operator, and some go on with the cluster of another. */
export const typedPages: readonly TypedPage[] = [
  { page: "README.md", by: "test/e2e/examples.test.ts" },
  { page: "docs/connect.md", by: "test/e2e/examples.test.ts" },
  { page: "docs/clusters.md", by: "test/e2e/examples.test.ts" },
  { page: "docs/auth.md", by: "test/e2e/examples.test.ts" },
  { page: "docs/volumes.md", by: "test/e2e/examples.test.ts" },
  { page: "docs/security.md", by: "test/e2e/examples.test.ts" },
  { page: "docs/backups.md", by: "test/e2e/examples.test.ts" },
  { page: "docs/walk-through.md", by: "test/e2e/examples.test.ts" },
  { page: "docs/install.md", by: "test/e2e-install/docs.test.ts" },
  { page: "docs/observability.md", by: "test/e2e-install/monitoring.test.ts" },
  { page: "docs/take-over.md", by: "test/e2e-rolls/rolls/inherited.ts" },
];

export interface FilledIn {
  /** All pages of a folder, as in docs/runbooks/. */
  readonly page: string;
  readonly by: "test/e2e/alerts/runbooks.ts";
}

/** Pages with placeholders, as in NAMESPACE, whose every block is typed with the names of a cluster in their place. */
export const filledIn: readonly FilledIn[] = [{ page: "docs/runbooks/", by: "test/e2e/alerts/runbooks.ts" }];

export interface TypedBlock {
  readonly page: string;
  /** The first line of the block. */
  readonly begins: string;
  readonly by:
    | "test/e2e/examples.test.ts"
    | "test/e2e-rolls/rolls/configuration.ts"
    | "test/release/release.test.ts"
    | "test/e2e-install/released.test.ts";
}

/** Blocks that a test types apart from their page, where it has what they need, and with its own names of things. */
export const typedBlocks = {
  oneNamespace: {
    page: "docs/install.md",
    begins: "kubectl apply -f example/crd/                        # once, by an administrator",
    by: "test/e2e/examples.test.ts",
  },
  permissionsInAnother: {
    page: "docs/install.md",
    begins: "example/rbac/create_role.sh --namespaced --namespace a --operator-namespace etcd",
    by: "test/e2e/examples.test.ts",
  },
  /** By `make matrix`. */
  practice: {
    page: "docs/backups.md",
    begins: "kubectl apply -f example/example-etcd-restore-new.yaml",
    by: "test/e2e/examples.test.ts",
  },
  replaceAll: {
    page: "docs/upgrades.md",
    begins: `kubectl annotate etcd my-etcd --overwrite etcd.database.coreos.com/restartedAt="$(date -Is)"`,
    by: "test/e2e-rolls/rolls/configuration.ts",
  },
  verifyFiles: {
    page: "docs/release.md",
    begins: "openssl dgst -sha256 -verify cosign.pub -signature <(base64 --decode SHA256SUMS.sig) SHA256SUMS",
    by: "test/release/release.test.ts",
  },
  publishImage: { page: "docs/release.md", begins: "mkdir ../image", by: "test/release/release.test.ts" },
  airGapCopy: {
    page: "docs/air-gap.md",
    begins: "tar -xf etcd-operator-0.2.0-air-gap.tar",
    by: "test/e2e-install/released.test.ts",
  },
  airGapInstall: {
    page: "docs/air-gap.md",
    begins:
      "sed 's|registry.example.com/etcd-operator@|registry.internal.example.com/etcd-operator@|' etcd-operator-0.2.0/install.yaml \\",
    by: "test/e2e-install/released.test.ts",
  },
  airGapCluster: {
    page: "docs/air-gap.md",
    begins: "kubectl apply -f - <<'YAML'",
    by: "test/e2e-install/released.test.ts",
  },
} as const satisfies Record<string, TypedBlock>;

/** A translation has the very blocks of its page (translations.test.ts), and is not typed a second time. */
export const translations = [
  { page: "README.md", translation: "README.zh-CN.md" },
  { page: "docs/concepts.md", translation: "docs/zh/concepts.md" },
  { page: "docs/walk-through.md", translation: "docs/zh/walk-through.md" },
] as const;

export interface Untyped {
  /** A page, or all pages of a folder, as in docs/runbooks/. */
  readonly page: string;
  /** The first line of the block; absent: every block of the page that is not marked. */
  readonly begins?: string;
  readonly because: string;
}

export const untyped: readonly Untyped[] = [
  { page: "README.md", begins: "make demo", because: "it starts a Kubernetes of its own beside the one of the suite" },
  { page: "README.md", begins: "kind create cluster", because: "it needs kind and Docker" },
  {
    page: "docs/runbooks/",
    begins: "kubectl top pods -n NAMESPACE -l etcd_cluster=CLUSTER",
    because: "it needs metrics-server, which the lab has not",
  },
  {
    page: "docs/kubectl-etcd.md",
    because:
      "test/e2e/plugin.test.ts types its examples, by make matrix all, and says which it cannot; test/install installs it",
  },
  {
    page: "docs/dashboard.md",
    because: "it serves a page until somebody ends it; test/e2e/dashboard.test.ts opens it",
  },
  {
    page: "docs/production.md",
    begins: "kubectl create secret generic aws --from-file=credentials --from-file=config",
    because:
      "it needs a bucket and three nodes with 4 GiB; docs/production.test.ts and examples.test.ts check the manifest",
  },
  {
    page: "docs/release.md",
    begins: "make release VERSION=0.2.0 IMAGE=registry.example.com/etcd-operator",
    because: "test/release makes one, of the tree as it is, in a folder of its own",
  },
  {
    page: "docs/release.md",
    begins: "helm push etcd-operator-0.2.0.tgz oci://registry.example.com/charts",
    because: "it needs a registry that speaks TLS",
  },
  {
    page: "docs/air-gap.md",
    begins:
      "helm install etcd-operator etcd-operator-0.2.0/etcd-operator-0.2.0.tgz --namespace etcd-operator --create-namespace --take-ownership \\",
    because:
      "test/e2e-install/release.test.ts installs the chart, by both majors of Helm; released.test.ts types the rest",
  },
  {
    page: "docs/air-gap.md",
    begins: "crane pull quay.io/coreos/etcd:v3.6.16 etcd-v3.6.16.tar",
    because: "it needs the Internet; test/e2e-install/released.test.ts has the lab's archive in its place",
  },
  {
    page: "docs/air-gap.md",
    begins: "sudo ctr --namespace k8s.io images import etcd-operator-0.2.0/etcd-operator-0.2.0.oci.tar",
    because: "the nodes of the lab have sockets of their own; test/e2e-install/released.test.ts calls ctr with them",
  },
  {
    page: "docs/release.md",
    begins: "node release/last-release.ts",
    because: "it changes the tree; release/permissions-diff.test.ts compares what it would write",
  },
  { page: "docs/quick-start.md", begins: "kind create cluster", because: "it needs Docker" },
  { page: "docs/quick-start.md", begins: "kind delete cluster", because: "it needs Docker" },
  {
    page: "docs/quick-start.md",
    begins: "RELEASE=https://etcd-operator.invalid/releases/download/v0.1.0",
    because: "no release is published; test/e2e-install/docs.test.ts applies the manifest of the tree",
  },
  {
    page: "docs/quick-start.md",
    begins: `kubectl delete pod "$member" --now`,
    because: "it watches until somebody ends it; the walk-through has it with a wait",
  },
  { page: "docs/install.md", begins: "make image", because: "it needs kind, minikube or Docker" },
  {
    page: "docs/install.md",
    begins: "docker build --tag example.org/etcd-operator:0.1.0 . && docker push example.org/etcd-operator:0.1.0",
    because: "it needs a registry",
  },
  {
    page: "docs/install.md",
    begins: "kubectl delete etcd --all --all-namespaces",
    because: "it would delete the clusters of all other tests",
  },
];
