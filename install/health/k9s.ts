// What k9s shows of our kinds, and keys for what people do most. Views are the columns of the CRDs, in their order.
import { kinds } from "../../src/api/kinds.ts";
import type { KindDescription } from "../../src/api/kind-description.ts";
import { yamlOf } from "../manifest.ts";

interface Plugin {
  readonly shortCut: string;
  readonly description: string;
  readonly scopes: readonly string[];
  readonly command: string;
  readonly args: readonly string[];
  readonly background: boolean;
  readonly confirm?: true;
  readonly dangerous?: true;
}

const here = ["--namespace", "$NAMESPACE", "--context", "$CONTEXT"];
const shell = (line: string): Pick<Plugin, "command" | "args"> => ({ command: "sh", args: ["-c", line] });
const kubectl = `kubectl --namespace "$NAMESPACE" --context "$CONTEXT"`;

export const plugins: Readonly<Record<string, Plugin>> = {
  "etcd-conditions": {
    shortCut: "Shift-S",
    description: "What it does and why",
    scopes: ["etcdclusters", "etcdbackups", "etcdrestores"],
    background: false,
    ...shell(
      `${kubectl} get $RESOURCE_NAME.$RESOURCE_GROUP $NAME -o jsonpath='{range .status.conditions[*]}{.type}{"\\t"}{.status}{"\\t"}{.reason}{"\\t"}{.message}{"\\n"}{end}' | less -S`,
    ),
  },
  "etcd-events": {
    shortCut: "Shift-V",
    description: "Events",
    scopes: ["etcdclusters", "etcdbackups", "etcdrestores"],
    background: false,
    ...shell(`${kubectl} events --for "$RESOURCE_NAME.$RESOURCE_GROUP/$NAME" | less -S`),
  },
  "etcd-backup-now": {
    shortCut: "Shift-B",
    description: "Back up now",
    scopes: ["etcdbackups"],
    background: true,
    confirm: true,
    ...shell(`${kubectl} annotate etcdbackup "$NAME" --overwrite "etcd.database.coreos.com/backup-now=$(date +%s)"`),
  },
  "etcd-restart": {
    shortCut: "Shift-T",
    description: "Replace all members, one after another",
    scopes: ["etcdclusters"],
    background: true,
    confirm: true,
    dangerous: true,
    ...shell(`${kubectl} annotate etcdcluster "$NAME" --overwrite "etcd.database.coreos.com/restartedAt=$(date +%s)"`),
  },
  "etcd-pause": {
    shortCut: "Shift-P",
    description: "Pause: the operator leaves it alone",
    scopes: ["etcdclusters"],
    background: true,
    confirm: true,
    command: "kubectl",
    args: ["patch", "etcdcluster", "$NAME", "--type=merge", "--patch", '{"spec":{"paused":true}}', ...here],
  },
  "etcd-resume": {
    shortCut: "Shift-R",
    description: "Resume",
    scopes: ["etcdclusters"],
    background: true,
    confirm: true,
    command: "kubectl",
    args: ["patch", "etcdcluster", "$NAME", "--type=merge", "--patch", '{"spec":{"paused":false}}', ...here],
  },
};

const made = (file: string): string =>
  `# Made by \`node install/generate.ts\`. Add it to ${file} in the folder that \`k9s info\` names.\n`;

export const k9sPlugins = (): string => made("plugins.yaml") + yamlOf({ plugins });

const columnsOf = ({ columns }: KindDescription): string[] => [
  "NAMESPACE",
  "NAME",
  ...columns.map(({ name, priority }) => `${name.toUpperCase()}${priority === 1 ? "|W" : ""}`),
];

export function k9sViews(): string {
  const views = kinds.map((description) => {
    const { group, version, plural } = description.kind;
    return [`${group}/${version}/${plural}`, { columns: columnsOf(description) }];
  });
  return made("views.yaml") + yamlOf({ views: Object.fromEntries(views) });
}
