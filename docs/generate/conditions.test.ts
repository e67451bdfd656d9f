// The reference has every condition and every reason that the code gives, and no other.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { conditionTypes } from "../../src/api/conditions.ts";
import { phases as backupPhases } from "../../src/api/etcd-backup/status.ts";
import { phases as restorePhases } from "../../src/api/etcd-restore/status.ts";
import { troubles } from "../../src/backup/plan/trouble.ts";
import { readyReasons } from "../../src/cluster/report/ready-reasons.ts";

const source = path.resolve(import.meta.dirname, "../../src");
const textOf = (file: string): string => readFileSync(path.join(source, file), "utf8");
const reasons = (row: { True: object; False: object }): { True: string[]; False: string[] } => ({
  True: Object.keys(row.True).toSorted(),
  False: Object.keys(row.False).toSorted(),
});
const { EtcdCluster, EtcdBackup, EtcdRestore } = conditionTypes;

describe("conditions in the reference", () => {
  test("every type that the report of a cluster writes is a row", () => {
    const verdicts = /const verdicts = \{([^]*?)\n {2}\};/.exec(textOf("cluster/report/conditions.ts"))?.[1] ?? "";
    const named = [...verdicts.matchAll(/\b([A-Z][A-Za-z]+):/g)].map(([, type = ""]) => type);
    assert.deepEqual(
      Object.keys(EtcdCluster).toSorted(),
      [...new Set([...named, "Reconciling", "Stalled", "DiskPressure"])].toSorted(),
    );
  });

  test("an EtcdBackup and an EtcdRestore have the conditions that their fields name", () => {
    const namedIn = (file: string): string[] =>
      [...(/conditions\("([^"]+)"\)/.exec(textOf(file))?.[1]?.matchAll(/[A-Z]\w+/g) ?? [])].map(([type]) => type);
    assert.deepEqual(Object.keys(EtcdBackup).toSorted(), namedIn("api/etcd-backup/status.ts").toSorted());
    assert.deepEqual(Object.keys(EtcdRestore).toSorted(), namedIn("api/etcd-restore/status.ts").toSorted());
  });

  test("Ready has the reasons that have a meaning for programs", () => {
    assert.deepEqual(reasons(EtcdCluster.Ready.reasons).False, Object.keys(readyReasons).toSorted());
  });

  test("every reason that stands in the report of a cluster is a reason of some condition", () => {
    const texts = ["cluster/report/conditions.ts", "cluster/report/certificates.ts", "cluster/assess/space.ts"];
    const given = texts
      .map(textOf)
      .flatMap((text) =>
        [...text.matchAll(/\b(?:yes|no)\(\s*"([^"]+)"|reason: "([^"]+)"/g)].map(([, a, b]) => a ?? b ?? ""),
      );
    const known = new Set(
      Object.values(EtcdCluster).flatMap(({ reasons: row }) =>
        "as" in row ? [] : [...Object.keys(row.True), ...Object.keys(row.False)],
      ),
    );
    assert.ok(given.length > 20, given.join());
    assert.deepEqual(
      given.filter((reason) => !known.has(reason)),
      [],
    );
  });

  test("what can be wrong with a certificate is a reason of CertificatesValid", () => {
    const kinds = /export type ProblemKind =([^;]*);/.exec(textOf("tls/problem.ts"))?.[1] ?? "";
    const named = [...kinds.matchAll(/"(\w)(\w+)"/g)].map(([, first = "", rest = ""]) => first.toUpperCase() + rest);
    // Those of Secrets that nobody gave, and of members, are no problems of a given certificate.
    const others = ["Damaged", "MembersApart", "NotYet", "Unread"];
    assert.deepEqual(reasons(EtcdCluster.CertificatesValid.reasons).False, [...named, ...others].toSorted());
  });

  test("an EtcdBackup and an EtcdRestore have the reasons of their phases and problems", () => {
    const problems = [...troubles.seen, ...troubles.lasting];
    const unfinished = backupPhases.filter((phase) => phase !== "Succeeded");
    assert.deepEqual(reasons(EtcdBackup.Problem.reasons), { True: problems.toSorted(), False: ["None"] });
    assert.deepEqual(reasons(EtcdBackup.Complete.reasons).False, [...problems, ...unfinished].toSorted());
    assert.deepEqual(
      reasons(EtcdRestore.Complete.reasons).False,
      ["Waiting", ...restorePhases.filter((phase) => phase !== "Succeeded")].toSorted(),
    );
  });
});
