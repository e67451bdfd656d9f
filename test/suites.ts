// The suites of `make test`, in order: first those that need no Kubernetes. Those that run in parallel mostly wait, or break
// their Kubernetes on purpose.
import { readdirSync } from "node:fs";
import * as path from "node:path";

/** Nothing, any Kubernetes, or the lab with its fault injection. */
type Need = "nothing" | "kubernetes" | "lab";

export type Suite =
  | { name: string; what: string; need: "nothing"; command: readonly string[] }
  | {
      name: string;
      what: string;
      need: Need;
      files: () => string[];
      atOnce: number;
      onlyWhenNamed?: true;
      /** `make test` runs these one after another, on a lab of their own, while the others run. */
      inParallel?: true;
    };

export const root: string = path.resolve(import.meta.dirname, "..");

function testFiles(...folders: string[]): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map((file) =>
        path.join(folder, file),
      ),
    )
    .filter((file) => file.endsWith(".test.ts"))
    .sort();
}

const isLifecycle = (file: string): boolean => path.basename(file) === "lifecycle.test.ts";

export const suites: readonly Suite[] = [
  { name: "types", what: "TypeScript compiles", need: "nothing", command: ["tsc", "--noEmit"] },
  {
    name: "page-types",
    what: "TypeScript of the dashboard's page, which runs in a browser, compiles",
    need: "nothing",
    command: ["tsc", "--noEmit", "--project", "src/plugin/dashboard/page"],
  },
  {
    name: "lint",
    what: "the linter finds nothing",
    need: "nothing",
    command: ["oxlint", "--type-aware", "--deny-warnings"],
  },
  { name: "format", what: "every file is formatted", need: "nothing", command: ["biome", "ci", "--colors=off"] },
  {
    name: "unit",
    what: "unit tests",
    need: "nothing",
    files: () => [
      ...testFiles("src", "lab", "docs", "bench", "demo", "install", "observability", "chaos", "release"),
      path.join("test", "parallel.test.ts"),
    ],
    atOnce: 2,
  },
  {
    name: "etcd",
    what: "the etcd client on real servers of several versions",
    need: "nothing",
    files: () => testFiles("test/etcd"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "robustness",
    what: "what clients saw of real etcd servers, by etcd's own checkers, and bad histories for each check",
    need: "nothing",
    files: () => testFiles("test/robustness"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "observability",
    what: "alerts under the series that they are for, and metrics of real etcd servers",
    need: "nothing",
    files: () => testFiles("test/observability"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "stores",
    what: "stores of backups on real servers, and while those fail",
    need: "nothing",
    files: () => testFiles("test/stores"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "install",
    what: "chart, kustomize bases, health checks and the plugin, by the programs that read them",
    need: "nothing",
    files: () => testFiles("test/install"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "release",
    what: "a release: made twice, verified, damaged, and published in a registry",
    need: "nothing",
    files: () => testFiles("test/release"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "backup",
    what: "backups of real etcd servers of every version, and what is restored from them",
    need: "nothing",
    files: () => testFiles("test/backup"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "kube-faults",
    what: "client and runtime while the API server suffers",
    need: "lab",
    files: () => testFiles("test/kube-faults"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "e2e-faults",
    what: "the operator while it is killed, and while everything around it suffers",
    need: "lab",
    files: () => testFiles("test/e2e-faults"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "e2e-backup",
    what: "backups that are taken, verified and restored, and a cluster that is lost",
    need: "lab",
    files: () => testFiles("test/e2e-backup"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "e2e-tls",
    what: "certificates that are given and made, while clients write",
    need: "lab",
    files: () => testFiles("test/e2e-tls"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "e2e-install",
    what: "the operator installed by manifest, kustomize and Helm",
    need: "lab",
    files: () => testFiles("test/e2e-install"),
    atOnce: 1,
    inParallel: true,
  },
  {
    name: "lab-lifecycle",
    // Before other labs start: a user's inotify instances allow for about three.
    what: "labs come and go without a trace",
    need: "nothing",
    files: () => testFiles("test/lab").filter(isLifecycle),
    atOnce: 1,
  },
  {
    name: "lab",
    what: "the lab does what it says",
    need: "lab",
    files: () => testFiles("test/lab").filter((file) => !isLifecycle(file)),
    atOnce: 1,
  },
  {
    name: "kube",
    what: "client and runtime on a real API server",
    need: "kubernetes",
    files: () => testFiles("test/kube"),
    atOnce: 2,
  },
  {
    name: "e2e",
    what: "the operator on a real Kubernetes, as people use it",
    need: "lab",
    files: () => testFiles("test/e2e"),
    atOnce: 1,
  },
  {
    name: "e2e-rolls",
    what: "upgrades and edits of clusters that serve",
    need: "lab",
    files: () => testFiles("test/e2e-rolls"),
    atOnce: 1,
  },
  {
    name: "e2e-volumes",
    what: "members with volumes of their own",
    need: "lab",
    files: () => testFiles("test/e2e-volumes"),
    atOnce: 1,
  },
];
