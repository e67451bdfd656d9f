// The worker as pods run it: one job in, one result and an exit code out, and no secret in anything that it says.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { Login } from "../../src/etcd/login.ts";
import type { Job } from "../../src/worker/job.ts";
import { RealEtcd } from "../etcd/real-etcd.ts";
import { isMatrix } from "../support/matrix.ts";
import { Jobs } from "./jobs.ts";
import { WorkerProgram } from "./worker-process.ts";

describe("the worker's program", () => {
  let program: WorkerProgram;
  let claim: string;
  before(async () => {
    program = await WorkerProgram.make();
    claim = path.join(program.folder, "claim");
    await mkdir(claim);
  });
  after(() => program[Symbol.asyncDispose]());

  const inClaim = <J extends Job>(job: J): J => ({ ...job, store: { type: "PVC", folder: claim } });
  const files = async (): Promise<string[]> => (await readdir(claim, { recursive: true })).sort();

  test("backs up, checks, restores once and deletes, with keys that nobody sees", async () => {
    const secrets = { encryption: randomBytes(32).toString("base64"), password: "hunter2-of-root" };
    const keys = path.join(program.folder, "keys");
    const login = path.join(program.folder, "login");
    for (const folder of [keys, login]) await mkdir(folder);
    await writeFile(path.join(keys, "2026"), secrets.encryption);
    await writeFile(path.join(login, "username"), "root");
    await writeFile(path.join(login, "password"), secrets.password);
    await using etcd = await RealEtcd.start("3.6.16");
    await etcd.member("m0").put("key", "value");
    const root = new Login("root", secrets.password);
    await etcd.setUser(root, ["root"]);
    await etcd.enableAuth(root);

    const jobs = new Jobs();
    const source = { endpoints: [etcd.clientUrl("m0")], loginFolder: login };
    const encryption = { folder: keys };
    const said: string[] = [];
    const done = async (job: Job, env?: Record<string, string>) => {
      const { code, result, lines } = await program.run(inClaim(job), env);
      said.push(JSON.stringify({ result, lines }));
      assert.ok(result.ok, JSON.stringify({ result, lines }));
      assert.equal(code, 0);
      for (const line of lines) assert.equal(typeof line["message"], "string");
      return result.did;
    };
    const made = await done(jobs.backupJob([], { source, encryption }));
    assert.ok(made.do === "backup");
    assert.deepEqual(await files(), ["etcd", "etcd/backup", "etcd/backup.json"]);
    const checked = await done(jobs.checkJob("3.6.16", made.backup.key, { encryption }));
    assert.ok(checked.do === "check");
    const member = { name: "m0", peerUrl: "http://127.0.0.1:1", dataDir: path.join(program.folder, "data") };
    const restoring = jobs.restoreJob(checked.backup, "3.6.16", member, { encryption });
    for (const state of ["no", "existing", ""]) {
      const refused = await program.run(inClaim(restoring), { ETCD_WORKER_MAY_RESTORE: state });
      assert.ok(refused.code === 1 && !refused.result.ok && /must not be restored/.test(refused.result.message));
    }
    const restored = await done(restoring, { ETCD_WORKER_MAY_RESTORE: "new" });
    assert.ok(restored.do === "restore" && restored.restored);
    const again = await done(restoring, { ETCD_WORKER_MAY_RESTORE: "existing" });
    assert.deepEqual(again, { do: "restore", restored: false });
    const { owner, key, store } = jobs.backupJob([]);
    assert.deepEqual(await done({ do: "delete", owner, key, store }), { do: "delete", deleted: 1, locked: 0 });
    assert.deepEqual(
      (await files()).filter((file) => file.includes("backup")),
      [],
    );
    for (const text of said) for (const secret of Object.values(secrets)) assert.ok(!text.includes(secret));
  });

  test("without a job, or with one that fails, exits with 1 and says why", async () => {
    for (const job of ["", "nonsense", '{"do":"dance","store":{}}']) {
      const { code, result } = await program.run(job);
      assert.deepEqual([code, result.ok || result.code], [1, "misconfigured"]);
    }
    const { code, result } = await program.run(inClaim(new Jobs().backupJob(["http://127.0.0.1:1"])));
    assert.equal(code, 1);
    assert.ok(!result.ok && result.code === "etcd" && /No endpoint of etcd answers/.test(result.message));
  });

  test("asked to end in the middle of an upload leaves no object; otherwise holds little of it in memory", async () => {
    await using etcd = await RealEtcd.start("3.6.16", { flags: ["--quota-backend-bytes=8589934592"] });
    const m0 = etcd.member("m0");
    for (let n = 0; n < 80; n += 1) await m0.put(`key/${n}`, Buffer.alloc(1_400_000, n));
    const { code, result } = await program.run(
      inClaim(new Jobs().backupJob([etcd.clientUrl("m0")], { key: { t: "once", path: "ended/backup" } })),
      {},
      (line, child) => {
        // Its child is the worker itself: setpriv has become it.
        if (line.includes("the snapshot comes")) child.kill("SIGTERM");
      },
    );
    assert.equal(code, 1);
    assert.ok(!result.ok && /asked to end by SIGTERM/.test(result.message), JSON.stringify(result));
    assert.deepEqual(
      (await files()).filter((file) => file.endsWith("backup")),
      [],
    );
    await usesLittleMemory(new Jobs().backupJob([etcd.clientUrl("m0")], { key: { t: "once", path: "whole" } }));
  });

  async function usesLittleMemory(job: Job & { do: "backup" }): Promise<void> {
    const { result, lines } = await program.run(inClaim(job));
    assert.ok(result.ok && result.did.do === "backup", JSON.stringify(result));
    const used = Number(lines.find(({ message }) => message === "most memory that was in use")?.["bytes"]);
    process.stdout.write(`${result.did.backup.bytes / 1e6} MB were stored with ${used / 1e6} MB of memory\n`);
    assert.ok(used < 150e6, `${used} bytes`);
  }

  if (isMatrix)
    test("streams 2 GiB and holds little of it in memory", async () => {
      await using etcd = await RealEtcd.start("3.6.16", { flags: ["--quota-backend-bytes=8589934592"] });
      const m0 = etcd.member("m0");
      const value = randomBytes(1_400_000);
      for (let n = 0; n < 1540; n += 1) {
        value.writeUInt32BE(n);
        await m0.put(`key/${n}`, value, { deadline: 30_000 });
      }
      const keys = path.join(program.folder, "keys-of-large");
      await mkdir(keys);
      await writeFile(path.join(keys, "2026"), randomBytes(32));
      const jobs = new Jobs();
      for (const encryption of [undefined, { folder: keys }]) {
        const key = { t: "once", path: encryption ? "large/sealed" : "large/plain" } as const;
        const job = jobs.backupJob([etcd.clientUrl("m0")], { key, ...(encryption && { encryption }) });
        await usesLittleMemory(job);
        assert.ok((await stat(path.join(claim, key.path))).size > 2 * 1024 ** 3);
      }
    });
});
