// docs/kubectl-etcd.md, made from the rows of the commands: flags, examples, output, and at its end the permissions with
// Roles that grant them. Output is that of the golden screens, and what the doctor says of the same scenes.
import { stringify } from "yaml";
import type { Command, Example, FlagRow, Permission } from "../command.ts";
import { diagnosisOf, diagnosisText } from "../doctor/doctor.ts";
import { globalFlags } from "../line/global-flags.ts";
import { flagInWords, permissionInWords } from "../line/help.ts";
import { inUsage } from "../line/parse.ts";
import { oldestNode } from "../node-version.ts";
import { plain } from "../screen/colour.ts";
import { keptIn80Columns } from "../view/testing/golden.ts";
import { scenes } from "../view/testing/scenes.ts";

export function manual(commands: readonly Command[]): string {
  return `<!-- Made by \`node src/plugin/generate.ts\` from src/plugin/commands.ts. -->

# kubectl etcd

A plugin for kubectl that shows etcd clusters at a glance and does what administrators of etcd do by hand. It uses your own
kubeconfig and permissions, exec plugins included, and installs nothing in the cluster. [dashboard.md](dashboard.md) describes its page in
the browser, [the appendix](#permissions) the permissions that each command needs.

## Install
\`make plugin\` builds it in three forms that do the same. All use your kubectl for \`logs\`, \`ctl\`, \`move-leader\` and
\`defrag\`.

| form | needs |
|---|---|
| \`dist/kubectl-etcd-linux-amd64\` and \`-arm64\`, executables of about 110 MB | Linux with glibc 2.28 or newer and libstdc++, as in all common distributions except Alpine; no Node |
| \`dist/kubectl-etcd\`, a file of half a megabyte | Node ${oldestNode} or newer |
| \`dist/krew\`, archives for Linux and macOS, with a manifest; that for macOS has the file, and uses your Node.js | [krew](https://krew.sigs.k8s.io) |

Put one of the first two into a folder of your PATH, as \`kubectl-etcd\`:

\`\`\`sh
make plugin
sudo install dist/kubectl-etcd-linux-amd64 /usr/local/bin/kubectl-etcd
kubectl etcd completion --install=/usr/local/bin
\`\`\`

Or install it with krew, which checks the archive against the manifest. Completion is a separate step there, too:

\`\`\`sh
kubectl krew install --manifest=dist/krew/etcd.yaml --archive=dist/krew/kubectl-etcd_linux_amd64.tar.gz
\`\`\`

To publish the archives, name their address in the manifest, and krew downloads them from there:

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

Text output is for people: it has colors only on a terminal, and tables leave out columns that do not fit. Use \`-o json\` or
\`-o yaml\` in programs. The exit code is 0 for success, 1 if the command was refused or failed or found something serious, and 2 if the
command line is invalid. A command that disturbs a cluster asks first; \`--yes\` answers.

${commands.map(section).join("\n\n")}

## Permissions
What you may not read is left out of the output and named at its end. If a required permission is missing, the command says which.

| command | requires | uses if granted |
|---|---|---|
${permissionRows(commands).join("\n")}

These Roles are enough for one namespace: \`etcd-viewer\` for ${list(commands.filter(isReadOnly).map(({ name }) => `\`${name}\``))},
\`etcd-administrator\` for all commands.

\`\`\`yaml
${roles(commands)}\`\`\`

Zones are labels of nodes, and a namespace may be managed by an operator elsewhere. This ClusterRole lets the plugin show both:

\`\`\`yaml
${stringify(clusterRole(commands))}\`\`\`
`;
}

function section({ name, what, details, arguments: rows, flags, examples }: Command): string {
  return [
    `### ${name}`,
    `${what}${details === undefined ? "" : `\n${details}`}`,
    `\`\`\`\nkubectl etcd ${[name, ...rows.map(inUsage)].join(" ")}\n\`\`\``,
    ...(flags.length === 0 ? [] : [flagTable(flags)]),
    `\`\`\`sh\n${examples.map(exampleLines).join("\n")}\n\`\`\``,
    ...outputOf(name),
  ].join("\n\n");
}

const exampleLines = ({ what, line }: Example): string => `# ${what}\nkubectl etcd ${line}`;

const flagTable = (flags: readonly FlagRow[]): string =>
  ["| flag | meaning |", "|---|---|", ...flags.map((flag) => `| \`${flagInWords(flag)}\` | ${flag.what} |`)].join("\n");

interface Shown {
  /** What the reader sees there. */
  readonly what: string;
  readonly screen: () => string;
}

const outputs: Readonly<Record<string, readonly Shown[]>> = {
  status: [
    { what: "A healthy cluster:", screen: () => keptIn80Columns("healthy") },
    { what: "The same cluster during an upgrade:", screen: () => keptIn80Columns("upgrading") },
  ],
  watch: [{ what: "A member is being replaced:", screen: () => keptIn80Columns("healing") }],
  doctor: [{ what: "A cluster that has lost its quorum:", screen: () => diagnosed("quorum-lost") }],
};

const outputOf = (name: string): readonly string[] =>
  (outputs[name] ?? []).flatMap(({ what, screen }) => [what, `\`\`\`text\n${screen()}\n\`\`\``]);

function diagnosed(name: string): string {
  const observed = scenes[name];
  if (observed === undefined) throw new RangeError(`there is no scene ${name}`);
  return diagnosisText(diagnosisOf(observed), { columns: 80, paint: plain });
}

/** Commands that need the same stand in one row. */
function permissionRows(commands: readonly Command[]): string[] {
  const named = new Map<string, string[]>();
  for (const { name, permissions } of commands) {
    if (permissions.length === 0) continue;
    const needs = inCell(permissions.filter(({ without }) => without === undefined));
    const uses = inCell(permissions.filter(({ without }) => without !== undefined));
    const row = `${needs} | ${uses}`;
    named.set(row, [...(named.get(row) ?? []), `\`${name}\``]);
  }
  return [...named].map(([row, names]) => `| ${names.join(", ")} | ${row} |`);
}

const inCell = (permissions: readonly Permission[]): string =>
  [...new Set(permissions.map((permission) => `\`${permissionInWords(permission)}\``))].join("; ");

const list = (names: readonly string[]): string => names.join(", ").replace(/, ([^,]*)$/, " and $1");

const readOnly = new Set(["status", "watch", "dashboard", "members", "doctor", "logs"]);

const isReadOnly = ({ name }: Command): boolean => readOnly.has(name);

function roles(commands: readonly Command[]): string {
  const named = (name: string, of: readonly Command[]) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name },
    rules: rulesOf(of.flatMap(({ permissions }) => permissions).filter(({ scope }) => scope === undefined)),
  });
  return [named("etcd-viewer", commands.filter(isReadOnly)), named("etcd-administrator", commands)]
    .map((role) => stringify(role))
    .join("---\n");
}

const clusterRole = (commands: readonly Command[]) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "etcd-zones" },
  rules: rulesOf(commands.flatMap(({ permissions }) => permissions).filter(({ scope }) => scope === "cluster")),
});

/** Each resource once, with all verbs that any command needs. */
function rulesOf(permissions: readonly Permission[]): { apiGroups: string[]; resources: string[]; verbs: string[] }[] {
  const byResource = new Map<string, { group: string; resource: string; verbs: Set<string> }>();
  for (const { group, resource, verbs } of permissions) {
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
