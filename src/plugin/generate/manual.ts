// docs/kubectl-etcd.md, made from the rows of the commands: flags, examples, rights, and the Role that gives them.
import { stringify } from "yaml";
import type { Command, Example, FlagRow, Right } from "../command.ts";
import { globalFlags } from "../line/global-flags.ts";
import { flagInWords, rightInWords } from "../line/help.ts";
import { inUsage } from "../line/parse.ts";
import { oldestNode } from "../node-version.ts";

export function manual(commands: readonly Command[]): string {
  return `<!-- Made by \`node src/plugin/generate.ts\` from src/plugin/commands.ts. -->

# kubectl etcd

A plugin for kubectl that shows etcd clusters at a glance and does what administrators of etcd do by hand. It uses your own
kubeconfig and your own rights, exec plugins included; nothing is installed in the cluster. [dashboard.md](dashboard.md) shows its page in
the browser.

## Install
\`make plugin\` builds it in three forms, which do the same. For \`logs\`, \`ctl\`, \`move-leader\` and \`defrag\` each uses your
kubectl.

| form | needs |
|---|---|
| \`dist/kubectl-etcd-linux-amd64\` and \`-arm64\`, executables of about 110 MB | Linux with glibc 2.28 or newer and libstdc++, as common distributions but Alpine have; no Node |
| \`dist/kubectl-etcd\`, a file of half a megabyte | Node ${oldestNode} or newer |
| \`dist/krew\`, the executables as archives, with a manifest | [krew](https://krew.sigs.k8s.io) |

Put the executable or the file into a folder of your PATH, as \`kubectl-etcd\`:

\`\`\`sh
make plugin
sudo install dist/kubectl-etcd-linux-amd64 /usr/local/bin/kubectl-etcd
kubectl etcd completion --install=/usr/local/bin
\`\`\`

Or let krew install it. It checks the archive against the manifest; completion is a step of its own there, too:

\`\`\`sh
kubectl krew install --manifest=dist/krew/etcd.yaml --archive=dist/krew/kubectl-etcd_linux_amd64.tar.gz
\`\`\`

Who publishes the archives says where they are, and krew fetches them from there:

\`\`\`sh
make plugin PLUGIN_OPTIONS='--uri https://example.org/{version}/{file} --homepage https://example.org'
kubectl krew install --manifest-url=https://example.org/0.1.0/etcd.yaml
\`\`\`

## Commands

| command | what it does |
|---|---|
${commands.map(({ name, what }) => `| [\`${name}\`](#${name}) | ${what} |`).join("\n")}

Flags of every command:

${flagTable(globalFlags)}

Text is for people: colours only on a terminal, and tables leave out what does not fit. \`-o json\` and \`-o yaml\` are for
programs. The exit code is 0 when it is done, 1 when it was refused or failed or something is serious, and 2 when the command
line cannot be used. What disturbs a cluster is asked for first; \`--yes\` answers.

${commands.map(section).join("\n\n")}

## Rights
Each command says above what it needs. What you may not read is left out and named; a right that is needed and lacks is a
sentence that says which. These rights are enough for one namespace, the first for looking alone, the second for all commands:

\`\`\`yaml
${roles(commands)}\`\`\`

Zones of members are labels of nodes, which are in no namespace. They are shown with this:

\`\`\`yaml
${stringify(clusterRole(commands))}\`\`\`
`;
}

function section({ name, what, details, arguments: rows, flags, examples, rights }: Command): string {
  return [
    `### ${name}`,
    `${what}${details === undefined ? "" : `\n${details}`}`,
    `\`\`\`\nkubectl etcd ${[name, ...rows.map(inUsage)].join(" ")}\n\`\`\``,
    ...(flags.length === 0 ? [] : [flagTable(flags)]),
    `\`\`\`sh\n${examples.map(exampleLines).join("\n")}\n\`\`\``,
    ...(rights.length === 0 ? [] : [`Rights: ${rights.map(rightInLine).join("; ")}.`]),
  ].join("\n\n");
}

const exampleLines = ({ what, line }: Example): string => `# ${what}\nkubectl etcd ${line}`;

const flagTable = (flags: readonly FlagRow[]): string =>
  ["| flag | meaning |", "|---|---|", ...flags.map((flag) => `| \`${flagInWords(flag)}\` | ${flag.what} |`)].join("\n");

const rightInLine = (right: Right): string =>
  `\`${rightInWords(right)}\`${right.without === undefined ? "" : " (optional)"}`;

const looking = new Set(["status", "watch", "dashboard", "members", "doctor", "logs"]);

function roles(commands: readonly Command[]): string {
  const named = (name: string, of: readonly Command[]) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name },
    rules: rulesOf(of.flatMap(({ rights }) => rights).filter(({ scope }) => scope === undefined)),
  });
  return [
    named(
      "etcd-viewer",
      commands.filter(({ name }) => looking.has(name)),
    ),
    named("etcd-administrator", commands),
  ]
    .map((role) => stringify(role))
    .join("---\n");
}

const clusterRole = (commands: readonly Command[]) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "etcd-zones" },
  rules: rulesOf(commands.flatMap(({ rights }) => rights).filter(({ scope }) => scope === "cluster")),
});

/** Each resource once, with all verbs that any command needs. */
function rulesOf(rights: readonly Right[]): { apiGroups: string[]; resources: string[]; verbs: string[] }[] {
  const byResource = new Map<string, { group: string; resource: string; verbs: Set<string> }>();
  for (const { group, resource, verbs } of rights) {
    const key = `${group}/${resource}`;
    const known = byResource.get(key) ?? { group, resource, verbs: new Set<string>() };
    for (const verb of verbs) known.verbs.add(verb);
    byResource.set(key, known);
  }
  return [...byResource.values()].map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: [...verbs].sort(),
  }));
}
