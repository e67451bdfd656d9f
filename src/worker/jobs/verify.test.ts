import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { EtcdError } from "../../etcd/errors.ts";
import type { EtcdMembers } from "../../etcd/members.ts";
import type { EtcdMember, KvHash, MemberStatus } from "../../etcd/member.ts";
import { SimulatedClock } from "../../kube/testing/simulated-clock.ts";
import { MemoryStore } from "../../store/testing/memory-store.ts";
import type { Done, VerifyJob } from "../job.ts";
import { WorkerFailure } from "../program/failure.ts";
import { storeBackup } from "../testing/stored-backup.ts";
import { testWorker } from "../testing/test-worker.ts";
import { verify } from "./verify.ts";

const key = "etcd.backup";
const job: VerifyJob = {
  do: "verify",
  endpoint: "http://127.0.0.1:2379",
  store: { type: "PVC", folder: "/nowhere" },
  key,
  stalledAfterSeconds: 10,
};
const hash = { value: 7, revision: 5, compactRevision: 1 };

/** What etcd serves from the backup. */
interface Served {
  readonly revision?: number;
  readonly hash?: KvHash | EtcdError;
  readonly status?: () => Promise<MemberStatus>;
}

type Recorded = Parameters<typeof storeBackup>[2];

interface Verified {
  readonly done: Done;
  readonly logins: readonly (string | undefined)[];
  readonly lines: readonly string[];
}

async function verified(recorded: Recorded, served: Served = {}, asked: Partial<VerifyJob> = {}): Promise<Verified> {
  const store = new MemoryStore();
  storeBackup(store, key, recorded);
  const logins: (string | undefined)[] = [];
  const { revision = 5, hash: found = { hash: 7, revision: 5, compactRevision: 1 } } = served;
  const member: Pick<EtcdMember, "status" | "hashKv"> = {
    status: served.status ?? (() => Promise.resolve({ revision } as MemberStatus)),
    hashKv: () => (found instanceof EtcdError ? Promise.reject(found) : Promise.resolve(found)),
  };
  const at: EtcdMembers["at"] = ({ login }) => {
    logins.push(login?.username);
    return member as EtcdMember;
  };
  await using worker = await testWorker(store, { members: { at } });
  return { done: await verify({ ...job, ...asked }, store, worker), logins, lines: worker.lines };
}

const fails = (code: string, words: RegExp) => (error: unknown) =>
  error instanceof WorkerFailure && error.code === code && words.test(error.message);

test("a backup that etcd serves with the same hash is verified", async () => {
  const { done, logins } = await verified({ revision: 5, hash });
  assert.deepEqual(done, { do: "verify", revision: 5, comparedHash: true, hash: 7 });
  assert.deepEqual(logins, [undefined]);
});

test("a login is read from the mounted Secret", async () => {
  const loginFolder = await mkdtemp(path.join(tmpdir(), "login-"));
  try {
    await writeFile(path.join(loginFolder, "username"), "root");
    await writeFile(path.join(loginFolder, "password"), "secret");
    // Not sent over plain http to another host.
    const { logins } = await verified({ revision: 5 }, {}, { loginFolder, endpoint: "https://127.0.0.1:2379" });
    assert.deepEqual(logins, ["root"]);
  } finally {
    await rm(loginFolder, { recursive: true });
  }
});

test("another hash, or a lower revision, is damage", async () => {
  const other = { hash: 8, revision: 5, compactRevision: 1 };
  await assert.rejects(verified({ revision: 5, hash }, { hash: other }), fails("damaged", /its hash is 8, and 7/));
  await assert.rejects(verified({ revision: 6, hash }), fails("damaged", /its revision is 5, and 6/));
});

test("a higher revision is damage only where it was exact and no hash says that all is there", async () => {
  const late = { revision: 6 };
  await assert.rejects(
    verified({ revision: 5, exactRevision: true }, late),
    fails("damaged", /its revision is 6, and 5/),
  );
  const unsure = await verified({ revision: 5, exactRevision: false }, late);
  assert.deepEqual(unsure.done, { do: "verify", revision: 6, comparedHash: false });
  assert.equal((await verified({ revision: 5, exactRevision: true, hash }, late)).done.do, "verify");
});

test("a hash that cannot be compared is none", async () => {
  const missing: readonly (KvHash | EtcdError)[] = [
    { hash: 8, revision: 5, compactRevision: 4 },
    new EtcdError("unimplemented", "HashKV", "unknown method"),
    new EtcdError("compacted", "HashKV", "required revision has been compacted"),
  ];
  for (const found of missing) {
    const { done, lines } = await verified({ revision: 5, hash }, { hash: found });
    assert.deepEqual(done, { do: "verify", revision: 5, comparedHash: false });
    assert.match(lines.join(""), /cannot be compared/);
  }
  const broken = new EtcdError("noLeader", "HashKV", "broken");
  await assert.rejects(verified({ revision: 5, hash }, { hash: broken }), (error) => error === broken);
});

test("a backup without metadata is served, and there is nothing to compare", async () => {
  const { done, lines } = await verified("none");
  assert.deepEqual(done, { do: "verify", revision: 5, comparedHash: false });
  assert.match(lines.join(""), /no metadata/);
});

test("authentication that is on asks for a login", async () => {
  const refused = new EtcdError("authRequired", "HashKV", "user name is empty");
  await assert.rejects(verified({ revision: 5, hash }, { hash: refused }), fails("etcd", /Name a Secret/));
  const status = (): Promise<MemberStatus> => Promise.reject(refused);
  await assert.rejects(verified({ revision: 5 }, { status }), fails("etcd", /Name a Secret/));
});

test("an etcd that does not answer is waited for, and then given up", async () => {
  const store = new MemoryStore();
  storeBackup(store, key);
  const clock = new SimulatedClock();
  let asked = 0;
  const status = (): Promise<MemberStatus> => {
    asked += 1;
    return Promise.reject(new Error("nobody listens"));
  };
  await using worker = await testWorker(store, { clock, members: { at: () => ({ status }) as unknown as EtcdMember } });
  const given = verify(job, store, worker);
  const ended = assert.rejects(given, fails("stalled", /within 10 s/));
  await clock.advance(9_900);
  const before = asked;
  assert.ok(before > 90, `${before}`);
  await clock.advance(200);
  await ended;
});
