// docs/support.md: what is supported, and what was run, from the tables that the suites use.
import { version } from "../../src/version.ts";
import { lastRelease } from "../last-release.ts";
import { etcdRange, etcdRows } from "./etcd.ts";
import { newestKubernetes, oldestKubernetes, testedKubernetes, validatedKubernetes } from "./kubernetes.ts";

export function supportPage(): string {
  const [oldestEtcd, newestEtcd] = etcdRange();
  const line = version.split(".").slice(0, 2).join(".");
  return `# What is supported

<!-- Made by \`node release/generate.ts\` from release/support/. -->

"Supported" means that a fault there is a bug. "Run" means that the suites of this repository ran on that version, with every fault that
they inject. These are different columns on purpose.

## Versions together

| operator | Kubernetes, supported | Kubernetes, run | etcd | state |
|---|---|---|---|---|
| ${line} | ${oldestKubernetes} to ${newestKubernetes} | ${testedKubernetes.join(", ")} | ${oldestEtcd} to ${newestEtcd} | ${stateOf()} |

Only the newest minor version of the operator gets fixes. An upgrade of the operator does not restart members, so there is little reason
to stay behind. [SECURITY.md](../SECURITY.md) says the same of security fixes.

## Kubernetes

| version | what was done with it |
|---|---|
${kubernetesRows().join("\n")}
| older than ${oldestKubernetes} | the chart refuses it: the CRDs need rules that are off there |

Schemas say that an API server takes the manifests. They do not say how kubelets and volumes behave, so run the suites
on a cluster of yours before you rely on another version: \`KUBECONFIG=… LAB=none make test\` leaves out those that break nodes.

## etcd

| version in the lab | why this one |
|---|---|
${etcdRows.map((row) => `| ${row.version} | ${row.because} |`).join("\n")}

\`make test\` runs a sample of them in each suite, \`make matrix\` all. Patches of the same minor version that are not in the table are
supported, except those with [known faults](upgrades.md#which-versions).

## Machines

| | |
|---|---|
| operator and worker | Linux on amd64 and arm64. The suites ran on amd64; for arm64 the image is built, and nothing was run |
| \`kubectl etcd\` | Linux on amd64 and arm64, as one executable; macOS on both, with Node.js. Run on Linux amd64; the launcher for macOS ran on Linux |
| Helm | 3 and 4: the chart is rendered and installed by both |
`;
}

const stateOf = (): string =>
  lastRelease.version === undefined ? "not released yet" : `${lastRelease.version} is the newest`;

function kubernetesRows(): string[] {
  const validated = validatedKubernetes.filter((one) => !testedKubernetes.includes(one));
  return [
    ...testedKubernetes.map((one) => `| ${one} | all suites of \`make test\` |`),
    `| ${validated.join(", ")} | manifests, chart and examples are valid by the schemas of these versions; the operator was not run |`,
    `| others from ${oldestKubernetes} on | nothing yet |`,
  ];
}
