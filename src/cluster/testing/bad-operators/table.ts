// Operators with one mistake in them, each an edit of the sources that is made while they are loaded, and what must catch
// it. What several guards protect is bad only without all of them, so some have more than one edit.
import type { Sort } from "../happenings.ts";
import type { Begin } from "../small-worlds/scopes.ts";

export interface Edit {
  /** Relative to `src`. */
  readonly file: string;
  /** It is there once. */
  readonly from: string;
  readonly to: string;
}

export interface BadOperator {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly caughtBy: Prover;
  /** What it is told, and within how many worlds or histories. */
  readonly as: RegExp;
  readonly within: number;
}

export type Prover =
  | { readonly t: "smallWorlds"; readonly begin: Begin }
  | { readonly t: "histories"; readonly sorts: readonly Sort[] };

export const badOperators: readonly BadOperator[] = [
  {
    name: "skips the quorum rule",
    edits: [
      {
        file: "cluster/plan/safety.ts",
        from: "  if (!votersBut(table.instances, instance).every(isHealthy)) return undefined;\n  const isFirst",
        to: "  const isFirst",
      },
      {
        file: "cluster/assess/gates.ts",
        from: "return unwell.length === 0 ? undefined : `it waits for ${namesOf(unwell)} to be healthy`;",
        to: "return undefined;",
      },
    ],
    caughtBy: { t: "smallWorlds", begin: { size: 3, faults: 1, log: "long", edits: [{ t: "version" }] } },
    as: /change .* takes the quorum away/,
    within: 10_000,
  },
  {
    name: "reuses a wiped volume",
    edits: [
      {
        file: "cluster/plan/rules/guard.ts",
        from: "return [...guardRefusing(world), ...guardInstances(instances)];",
        to: "void guardInstances(instances);\n  return guardRefusing(world);",
      },
    ],
    caughtBy: { t: "smallWorlds", begin: { size: 3, faults: 1, volumes: true, log: "long" } },
    as: /comes back without its data|a second cluster is begun/,
    within: 500,
  },
  {
    name: "seeds twice",
    edits: [
      {
        file: "cluster/plan/rules/bootstrap.ts",
        from: "  if (hasServed(world)) return undefined;\n",
        to: "  void hasServed;\n",
      },
      {
        file: "cluster/act/actions.ts",
        from: "createSeed: {\n    requires: () => [clusterAsSeen, neverServed, {",
        to: "createSeed: {\n    requires: () => [clusterAsSeen, {",
      },
    ],
    caughtBy: { t: "smallWorlds", begin: { size: 3, faults: 1 } },
    as: /a second cluster is begun/,
    within: 500,
  },
  {
    name: "removes before adding",
    edits: [
      {
        file: "cluster/plan/rules/change-members.ts",
        from: "  if (ours.length <= desired.size) return undefined;\n",
        to: "  void [desired, ours];\n",
      },
      {
        file: "cluster/assess/roll.ts",
        from: "(isUnderWay || mayBegin) ? 1 : 0;",
        to: "(isUnderWay || mayBegin) ? 0 : 0;",
      },
    ],
    caughtBy: { t: "smallWorlds", begin: { size: 3, faults: 0, edits: [{ t: "setting" }] } },
    as: /out while nobody is too many/,
    within: 1000,
  },
  {
    name: "answers from a stale cache",
    edits: [
      {
        file: "cluster/act/actions.ts",
        from: '    requires: ({ member }) => [{ holds: "podStays", member }],',
        to: "    requires: destroysNothing,",
      },
    ],
    caughtBy: { t: "smallWorlds", begin: { size: 1, faults: 2, edits: [{ t: "setting" }] } },
    as: /promote .* takes the quorum away/,
    within: 10_000,
  },
  {
    name: "deletes a pod by a stale view of its claim",
    edits: [
      {
        file: "cluster/act/actions.ts",
        from: "[...ofClaim({ member, uid: keeps }), {",
        to: "[clusterAsSeen, {",
      },
    ],
    caughtBy: { t: "smallWorlds", begin: { size: 1, faults: 2, volumes: true, edits: [{ t: "setting" }] } },
    as: /delete .* loses the quorum for good/,
    within: 5000,
  },
  {
    name: "restores without bumping revisions",
    edits: [
      {
        file: "restore/objects/seed.ts",
        from: "return status.inPlace === true ? Math.max(0, highest - revision) + margin : 0;",
        to: "return 0 * (highest - revision + margin);",
      },
    ],
    caughtBy: { t: "histories", sorts: ["everyday", "restores"] },
    as: /clients see revision \d+ again/,
    within: 20,
  },
  {
    name: "loses its fence",
    edits: [
      { file: "kube/leader/fence.ts", from: "  fence.check();\n  const link", to: "  const link" },
      { file: "kube/leader/fence.ts", from: ", beforeSend: () => fence.check() }", to: " }" },
    ],
    caughtBy: { t: "histories", sorts: ["everyday", "rivals"] },
    as: /by a process that has lost its lease/,
    within: 20,
  },
  {
    name: "changes members without its fence",
    edits: [
      {
        file: "cluster/act/execution.ts",
        from: "{ signal: reconcile.signal, beforeSend: () => reconcile.fence.check() }",
        to: "{ signal: reconcile.signal }",
      },
    ],
    caughtBy: { t: "histories", sorts: ["everyday", "rivals"] },
    as: /by a process that has lost its lease/,
    within: 20,
  },
];
