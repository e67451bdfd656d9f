// The commands that the page offers to copy, complete: with the namespace of the cluster and the flags that choose the same
// Kubernetes and the same user as the dashboard itself.
import type { Finding } from "../doctor/finding.ts";
import type { ClusterView } from "../view/cluster-view.ts";
import type { CommandLine } from "./messages.ts";

/** Flags in front of which the shell has nothing to add, as in `--context=prod`. */
export type SameFlags = readonly string[];

const plainWord = /^[\w@%+=:,./-]+$/;
const quoted = (word: string): string => (plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** A plugin takes flags only after its name. */
export function completed(command: string, namespace: string, flags: SameFlags): string {
  const same = [`-n ${namespace}`, ...flags.filter((flag) => !flag.startsWith("--namespace=")).map(quoted)].join(" ");
  return command.replaceAll(/kubectl (etcd )?(?!-n)/g, (_, plugin: string = "") => `kubectl ${plugin}${same} `);
}

export const completedFindings = (found: readonly Finding[], namespace: string, flags: SameFlags): Finding[] =>
  found.map((one) => ({ ...one, command: completed(one.command, namespace, flags) }));

/** What people do next with a cluster. */
export function commandLinesOf(view: ClusterView, flags: SameFlags): CommandLine[] {
  const { name, namespace, members, backups, activity } = view;
  const isPaused = activity.some((said) => said.startsWith("Paused"));
  const [backup] = backups === "unknown" ? [] : backups;
  const follower = members.find(({ role }) => role === "voter");
  const rows: readonly (readonly [what: string, command: string])[] = [
    ["This page, in the terminal", `kubectl etcd watch ${name}`],
    ["What is wrong, and how to fix it", `kubectl etcd doctor ${name}`],
    ["The logs of all members", `kubectl etcd logs ${name} --follow`],
    ["Ask etcd itself", `kubectl etcd ctl ${name} endpoint status -w table`],
    ...(backup === undefined ? [] : [["A backup now", `kubectl etcd backup ${name} --backup=${backup.name}`] as const]),
    ...(follower === undefined
      ? []
      : [
          ["Make another member the leader", `kubectl etcd move-leader ${name}`] as const,
          ["Replace a member with a new one", `kubectl etcd replace-member ${name} ${follower.name}`] as const,
        ]),
    ["Free unused space on disk", `kubectl etcd defrag ${name}`],
    isPaused ? ["Resume it", `kubectl etcd resume ${name}`] : ["Pause it", `kubectl etcd pause ${name}`],
  ];
  return rows.map(([what, command]) => ({ what, command: completed(command, namespace, flags) }));
}
