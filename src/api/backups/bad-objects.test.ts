// Every mistake in an EtcdBackup or an EtcdRestore has its sentence, also where the API server did not refuse it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EtcdBackup } from "../etcd-backup/etcd-backup.ts";
import { problemsOf as problemsOfBackup } from "../etcd-backup/problems.ts";
import type { EtcdRestore } from "../etcd-restore/etcd-restore.ts";
import { problemsOf as problemsOfRestore } from "../etcd-restore/problems.ts";
import { badBackups, badRestores } from "./testing/bad-objects.ts";

for (const { what, name = "example", spec, says } of badBackups)
  test(`an EtcdBackup with ${what}`, () => {
    const problems = problemsOfBackup({ metadata: { name }, spec } as unknown as EtcdBackup);
    assert.ok(problems.join(" ").includes(says), problems.join(" "));
  });

for (const { what, name = "example", spec, says } of badRestores)
  test(`an EtcdRestore with ${what}`, () => {
    const problems = problemsOfRestore({ metadata: { name }, spec } as unknown as EtcdRestore);
    assert.ok(problems.join(" ").includes(says), problems.join(" "));
  });
