// The members that backups are taken from: dead, frozen and busy ones, with TLS and with authentication.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import type { EtcdVersion as Built } from "../../lab/build/etcd.ts";
import { Login } from "../../src/etcd/login.ts";
import { EtcdMembers } from "../../src/etcd/members.ts";
import { comesTrue } from "../../src/etcd/testing/world.ts";
import { clientTls, newAuthority } from "../etcd/made-certificates.ts";
import { RealEtcd } from "../etcd/real-etcd.ts";
import { isMatrix } from "../support/matrix.ts";
import { Jobs, target } from "./jobs.ts";

const root = new Login("root", "of-root");
let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "source-"));
});
after(() => rm(folder, { recursive: true }));

async function secret(name: string, entries: Readonly<Record<string, string>>): Promise<string> {
  const mounted = path.join(folder, name);
  await mkdir(path.join(mounted, "..data"), { recursive: true });
  for (const [entry, text] of Object.entries(entries)) await writeFile(path.join(mounted, entry), text);
  return mounted;
}

describe("a backup is taken", { concurrency: 2 }, () => {
  test("while members are dead or frozen, from one that has everything", async () => {
    const jobs = new Jobs();
    await using etcd = await RealEtcd.startCluster("3.6.16", 3);
    const endpoints = ["m0", "m1", "m2"].map((name) => etcd.clientUrl(name));
    for (let n = 0; n < 20; n += 1) await etcd.member("m0").put(`key/${n}`, "value");
    const { revision } = await etcd.member("m0").status();
    assert.equal((await jobs.backup(endpoints)).backup.revision, revision);
    await etcd.kill("m1");
    assert.equal((await jobs.backup(endpoints)).backup.members, 3);
    await etcd.freeze("m2");
    // There is no quorum any more: what this one has is all that can be saved.
    const { backup } = await jobs.backup(endpoints);
    assert.deepEqual([backup.revision, backup.members, backup.auth], [revision, 3, false]);
    await etcd.kill("m0");
    assert.match(await jobs.fails("etcd", jobs.backupJob(endpoints)), /No endpoint of etcd answers/);
  });

  test("from the next member where the best freezes before its first byte", async () => {
    const jobs = new Jobs();
    await using etcd = await RealEtcd.startCluster("3.6.16", 3);
    await etcd.member("m0").put("key", "value");
    const members = new EtcdMembers();
    const frozen: string[] = [];
    const at: EtcdMembers["at"] = (endpoint) => {
      const member = members.at(endpoint);
      const snapshot: typeof member.snapshot = async (onChunk, call) => {
        const name = ["m0", "m1", "m2"].find((one) => etcd.clientUrl(one) === endpoint.url);
        if (frozen.length === 0 && name !== undefined) {
          frozen.push(name);
          await etcd.freeze(name);
        }
        // Only the frozen one is given up soon: the others may be slow, and have to answer.
        return member.snapshot(onChunk, name === frozen[0] ? { ...call, answerWithin: 2000 } : call);
      };
      return new Proxy(member, {
        get: (target, name) => {
          if (name === "snapshot") return snapshot;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    };
    try {
      const job = jobs.backupJob(["m0", "m1", "m2"].map((name) => etcd.clientUrl(name)));
      const did = await jobs.does(job, { members: { at } });
      assert.equal(frozen.length, 1);
      assert.ok(did.do === "backup" && did.backup.revision === 2);
    } finally {
      members.close();
    }
  });

  test("not from a member that freezes in the middle: nothing is left of it", async () => {
    const jobs = new Jobs();
    await using etcd = await RealEtcd.start("3.6.16");
    for (let n = 0; n < 32; n += 1) await etcd.member("m0").put(`key/${n}`, Buffer.alloc(1 << 20, n));
    const put = jobs.store.put.bind(jobs.store);
    jobs.store.put = (key, body, options) => {
      async function* freezing(): AsyncGenerator<Uint8Array> {
        let chunks = 0;
        for await (const chunk of body) {
          if ((chunks += 1) === 10) await etcd.freeze("m0");
          yield chunk;
        }
      }
      return put(key, freezing(), options);
    };
    const said = await jobs.fails("stalled", jobs.backupJob([etcd.clientUrl("m0")], { stalledAfterSeconds: 2 }));
    assert.match(said, /stood still for 2 s/);
    assert.equal(jobs.store.objects.size, 0);
  });

  test("while etcd is written to: its revision is a lower bound, and what was recorded of it holds", async () => {
    const jobs = new Jobs();
    await using etcd = await RealEtcd.start("3.6.16");
    const m0 = etcd.member("m0");
    let written = 0;
    const end = new AbortController();
    const writing = (async () => {
      while (!end.signal.aborted) await m0.put(`key/${(written += 1) % 100}`, "value");
    })();
    try {
      await comesTrue(
        etcd,
        "there are keys",
        async () => written,
        (count) => count > 200,
      );
      const key = { t: "series", path: "busy" } as const;
      for (let n = 0; n < 3; n += 1) {
        const startedAt = new Date(Date.UTC(2026, 0, 1, n)).toISOString();
        const { backup, count } = await jobs.backup([etcd.clientUrl("m0")], { key, startedAt });
        assert.equal(count, n + 1);
        const checked = await jobs.check("3.6.16", backup.key);
        assert.ok(checked.revision >= backup.revision, `${checked.revision} < ${backup.revision}`);
        assert.equal(backup.exactRevision && checked.revision !== backup.revision, false);
      }
    } finally {
      end.abort();
      await writing;
    }
  });

  const authenticated: readonly Built[] = isMatrix ? ["3.5.35", "3.7.3"] : ["3.7.3"];
  for (const built of authenticated)
    test(`${built}: with TLS, under both spellings of a Secret, and with authentication`, async () => {
      const jobs = new Jobs();
      const tls = await clientTls(await newAuthority("etcd"));
      await using etcd = await RealEtcd.start(built, { tls });
      const endpoints = [etcd.clientUrl("m0")];
      await etcd.member("m0").put("key", "value");
      const { ca, identity } = tls.client;
      const { cert, key } = identity!;
      const own = await secret(`${built}-own`, {
        "etcd-client.crt": cert,
        "etcd-client.key": key,
        "etcd-client-ca.crt": ca,
      });
      const usual = await secret(`${built}-usual`, { "tls.crt": cert, "tls.key": key, "ca.crt": ca });
      for (const tlsFolder of [own, usual])
        assert.equal((await jobs.backup([], { source: { endpoints, tlsFolder } })).backup.auth, false);
      const incomplete = await secret(`${built}-incomplete`, { "tls.crt": cert });
      const said = await jobs.fails(
        "misconfigured",
        jobs.backupJob([], { source: { endpoints, tlsFolder: incomplete } }),
      );
      assert.match(said, /The Secret with the client certificate: It has tls\.crt and not tls\.key/);
      await jobs.fails("etcd", jobs.backupJob([], { source: { endpoints } }));

      await etcd.setUser(root, ["root"]);
      await etcd.enableAuth(root);
      // The certificate is root's, by its name.
      assert.equal((await jobs.backup([], { source: { endpoints, tlsFolder: own } })).backup.auth, true);
    });

  for (const built of authenticated)
    test(`${built}: with a login, and what is restored asks for it too`, async () => {
      const jobs = new Jobs();
      await using etcd = await RealEtcd.start(built);
      const endpoints = [etcd.clientUrl("m0")];
      await etcd.member("m0").put("key", "value");
      await etcd.setUser(root, ["root"]);
      await etcd.enableAuth(root);
      const loginFolder = await secret(`${built}-login`, { username: "root", password: "of-root" });
      const { backup } = await jobs.backup([], { source: { endpoints, loginFolder } });
      assert.deepEqual([backup.auth, backup.revision], [true, 2]);
      const wrong = await secret(`${built}-wrong`, { username: "root", password: "another" });
      const kept = await jobs.fails("etcd", jobs.backupJob([], { source: { endpoints, loginFolder: wrong } }));
      assert.ok(!kept.includes("another"));
      const empty = await secret(`${built}-empty`, { username: "root" });
      const said = await jobs.fails("misconfigured", jobs.backupJob([], { source: { endpoints, loginFolder: empty } }));
      assert.match(said, /no password/);

      const makeData = async (member: { name: string; peerUrl: string; dataDir: string }): Promise<void> => {
        await jobs.does(jobs.restoreJob(backup, built, member));
      };
      await using restored = await RealEtcd.startOn(built, makeData, { login: root });
      const endpoint = restored.clientUrl("m0");
      const verifying = { do: "verify", endpoint, store: target, key: backup.key, stalledAfterSeconds: 10 } as const;
      assert.match(await jobs.fails("etcd", verifying), /Authentication is on in this backup/);
      const did = await jobs.does({ ...verifying, loginFolder });
      assert.ok(did.do === "verify" && did.comparedHash && did.revision === 2);
    });
});
