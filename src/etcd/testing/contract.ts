// What every EtcdMember does, whatever is behind it. Run against the in-memory cluster beside the unit tests and
// against real servers of every version in test/etcd.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { TransportError } from "../../transport/errors.ts";
import { EtcdError } from "../errors.ts";
import { memberId } from "../ids.ts";
import type { EtcdMember, Member } from "../member.ts";
import { has } from "../versions/features.ts";
import { firstDowngradable } from "../versions/steps.ts";
import { type EtcdVersion, formatVersion, isAtLeast, minorOf, version } from "../versions/version.ts";
import { authContract } from "./auth-contract.ts";
import { comesTrue, type EtcdWorld, grow, isRefusal, isUndecided, refuses, removed, succeedsInTime } from "./world.ts";

const nobody = memberId(0x123456789abcdefn);

export function etcdContract(title: string, v: EtcdVersion, makeWorld: () => Promise<EtcdWorld>): void {
  // One world at a time, also where several versions are tried side by side.
  describe(title, { concurrency: 1 }, () => {
    describe("a lone member", () => alone(v, makeWorld));
    describe("a cluster that is out of space", () => outOfSpace(v, makeWorld));
    if (has(v, "learners")) describe("a learner", () => learner(v, makeWorld));
    describe("a downgrade", () => downgrade(v, makeWorld));
    describe("three voters", () => threeVoters(v, makeWorld));
    describe("authentication", () => authContract(v, makeWorld));
  });
}

const text = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString();

function alone(v: EtcdVersion, makeWorld: () => Promise<EtcdWorld>): void {
  let world: EtcdWorld;
  let m0: EtcdMember;
  before(async () => {
    world = await makeWorld();
    m0 = world.member("m0");
  });
  after(() => world[Symbol.asyncDispose]());

  test("tells of itself what it knows", async () => {
    const status = await m0.status();
    assert.equal(status.version, formatVersion(v));
    assert.equal(status.leader, status.memberId);
    assert.equal(status.learner, false);
    assert.deepEqual(status.alarms, []);
    assert.ok(status.dbSize > 0 && status.raftTerm > 0 && status.raftIndex > 0 && status.revision > 0);
    assert.equal(status.dbSizeQuota !== undefined, has(v, "statusQuota"));
    const { clusterId, members } = await m0.memberList({ linearizable: true });
    assert.equal(clusterId, status.clusterId);
    assert.deepEqual(
      members.map(({ id, name, learner, peerUrls }) => ({ id, name, learner, peerUrls })),
      [{ id: status.memberId, name: "m0", learner: false, peerUrls: [world.peerUrl("m0")] }],
    );
    assert.deepEqual(await m0.health(), { t: "healthy" });
    assert.deepEqual(await m0.alarms(), []);
  });

  test("keeps keys and counts revisions", async () => {
    const first = await m0.put("kv/a", "1");
    const second = await m0.put("kv/a", "2");
    assert.equal(second.revision, first.revision + 1);
    const a = await m0.get("kv/a");
    assert.equal(text(a?.value), "2");
    assert.deepEqual([a?.createRevision, a?.modRevision, a?.version], [first.revision, second.revision, 2]);
    assert.equal(text((await m0.get("kv/a", { revision: first.revision }))?.value), "1");
    assert.equal(await m0.get("kv/none"), undefined);
    await m0.put("kv/b", new Uint8Array([0, 255]));
    const range = await m0.list("kv/");
    assert.deepEqual(
      range.keys.map(({ key }) => key),
      ["kv/a", "kv/b"],
    );
    assert.deepEqual([...(range.keys[1]?.value ?? [])], [0, 255]);
    assert.equal((await m0.list("kv/", { limit: 1 })).more, true);
    assert.equal((await m0.delete("kv/b")).deleted, true);
    assert.equal((await m0.delete("kv/b")).deleted, false);
  });

  test("writes on a condition, and only then", async () => {
    const create = { when: [{ key: "txn", modRevision: 0 }], andThen: [{ put: "txn", value: "first" }] };
    assert.equal((await m0.txn(create)).succeeded, true);
    assert.equal((await m0.txn({ ...create, otherwise: [{ delete: "txn" }] })).succeeded, false);
    assert.equal(await m0.get("txn"), undefined);
  });

  test("forgets what is compacted, and hashes what is not", async () => {
    const { revision } = await m0.put("compact", "1");
    const newest = (await m0.put("compact", "2")).revision;
    if (has(v, "hashKv")) {
      const hash = await m0.hashKv(newest);
      assert.equal(hash.revision, newest);
      assert.equal((await m0.hashKv(newest)).hash, hash.hash);
    } else {
      await refuses(m0.hashKv(newest), "unimplemented");
    }
    await m0.compact(newest);
    await refuses(m0.get("compact", { revision }), "compacted");
    await refuses(m0.compact(revision), "compacted");
    await refuses(m0.get("compact", { revision: newest + 1000 }), "futureRevision");
    assert.equal(text((await m0.get("compact"))?.value), "2");
    await m0.defragment();
  });

  test("gives a snapshot that ends with its checksum", async () => {
    const pieces: Uint8Array[] = [];
    const snapshot = await m0.snapshot((piece) => void pieces.push(Uint8Array.from(piece)));
    const file = Buffer.concat(pieces);
    assert.equal(file.length, snapshot.bytes);
    const digest = createHash("sha256").update(file.subarray(0, -32)).digest("hex");
    assert.equal(file.subarray(-32).toString("hex"), digest);
    assert.equal(snapshot.sha256, createHash("sha256").update(file).digest("hex"));
  });

  test("refuses what would end the cluster or makes no sense", async () => {
    const { memberId } = await m0.status();
    await refuses(m0.memberRemove(memberId), "notEnoughStartedMembers");
    await refuses(m0.memberRemove(nobody), "memberNotFound");
    if (has(v, "learners")) {
      await refuses(m0.memberPromote(nobody), "memberNotFound");
      await refuses(m0.memberPromote(memberId), "notALearner");
    } else {
      await refuses(m0.memberPromote(nobody), "unimplemented");
    }
    // 3.3 does not check which member it is given, and waits for that one to lead.
    if (has(v, "learners")) await refuses(m0.moveLeader(nobody), "badTransferee");
    else if (!has(v, "moveLeader")) await refuses(m0.moveLeader(nobody), "unimplemented");
  });

  test("is sent nothing when the caller's last check throws, and the caller gets that error", async () => {
    const lost = new Error("leadership lost");
    const beforeSend = (): void => {
      throw lost;
    };
    await assert.rejects(m0.put("before-send", "1", { beforeSend }), (error) => error === lost);
    await assert.rejects(m0.health({ beforeSend }), (error) => error === lost);
    assert.equal(await m0.get("before-send"), undefined);
    let checks = 0;
    await m0.put("before-send", "1", { beforeSend: () => void (checks += 1) });
    assert.equal(checks, 1);
  });

  test("is never asked for a learner when a server may take it for a voter", async () => {
    const wanted = { as: "learner", peerUrls: [world.peerUrl("m9")], oldestServer: version("3.3.27") } as const;
    await refuses(m0.memberAdd(wanted), "learnersUnsupported");
    assert.equal((await m0.memberList({ linearizable: true })).members.length, 1);
  });
}

function outOfSpace(v: EtcdVersion, makeWorld: () => Promise<EtcdWorld>): void {
  test("refuses writes, says so, and recovers when there is room and the alarm is off", async () => {
    await using world = await makeWorld();
    const m0 = world.member("m0");
    await world.fillUp();
    const { memberId, revision, alarms } = await m0.status();
    const alarm = { member: memberId, type: "noSpace" } as const;
    assert.deepEqual(alarms, has(v, "learners") ? [alarm] : []);
    assert.deepEqual(await m0.alarms(), [alarm]);
    await refuses(m0.put("more", "1"), "noSpace");
    // A few at a time: there is a limit to what is taken in one answer.
    for (let left = true; left; ) {
      const { keys, more } = await m0.list("fill/", { limit: 4 });
      for (const { key } of keys) await m0.delete(key);
      left = more;
    }
    await m0.compact((await m0.status()).revision);
    await m0.defragment();
    await m0.disarm(alarm);
    assert.deepEqual(await m0.alarms(), []);
    assert.ok((await m0.put("more", "1")).revision > revision);
  });
}

function learner(v: EtcdVersion, makeWorld: () => Promise<EtcdWorld>): void {
  test("is added, serves little, and becomes a voter when it has caught up", async () => {
    await using world = await makeWorld();
    const m0 = world.member("m0");
    await m0.put("before", "1");
    const wanted = { as: "learner", peerUrls: [world.peerUrl("m1")], oldestServer: v } as const;
    const { member, members } = await m0.memberAdd(wanted);
    assert.deepEqual([member.name, member.learner, members.length], ["", true, 2]);
    assert.deepEqual(await m0.health(), { t: "healthy" }, "a learner does not count for the quorum");

    await refuses(m0.memberAdd(wanted), "memberExists", "peerUrlExists");
    await refuses(m0.memberAdd({ ...wanted, peerUrls: [world.peerUrl("m2")] }), "tooManyLearners");
    await refuses(m0.memberPromote(member.id), "learnerNotReady");

    await world.join("m1");
    const m1 = world.member("m1");
    const status = await comesTrue(
      world,
      "the learner knows who it is",
      () => m1.status(),
      (seen) => seen.learner && seen.leader !== undefined,
    );
    assert.equal(status.memberId, member.id);
    await comesTrue(
      world,
      "the learner has the data",
      () => m1.get("before", { serializable: true }),
      (seen) => text(seen?.value) === "1",
    );
    await refuses(m1.memberList({ linearizable: false }), "notServedByLearner");
    await refuses(m1.put("x", "1"), "notServedByLearner");
    await refuses(m1.defragment(), "notServedByLearner");
    if (has(v, "downgradeCall")) await refuses(m1.downgrade({ do: "cancel" }), "notServedByLearner");
    const health = await m1.health();
    assert.ok(health.t === "unhealthy" && health.error instanceof EtcdError);
    assert.equal(health.error.reason, "notServedByLearner");
    if (has(v, "moveLeader")) await refuses(m0.moveLeader(member.id), "badTransferee");

    const promoted = await succeedsInTime(
      world,
      "promotion",
      () => m0.memberPromote(member.id),
      isRefusal("learnerNotReady"),
    );
    assert.deepEqual(
      promoted.map(({ learner }) => learner),
      [false, false],
    );
    await refuses(m0.memberPromote(member.id), "notALearner");
  });

  test("stays one when its address changes, where servers are new enough", async () => {
    await using world = await makeWorld();
    const m0 = world.member("m0");
    const { member } = await m0.memberAdd({ as: "learner", peerUrls: [world.peerUrl("m1")], oldestServer: v });
    const members = await m0.memberUpdate(member.id, [world.peerUrl("m2")]);
    const updated = members.find(({ id }) => id === member.id);
    assert.deepEqual(updated?.peerUrls, [world.peerUrl("m2")]);
    assert.equal(updated?.learner, has(v, "safeLearnerUpdate"));
  });

  test("is removed without regard to the quorum", async () => {
    await using world = await makeWorld();
    const m0 = world.member("m0");
    const { member } = await m0.memberAdd({ as: "learner", peerUrls: [world.peerUrl("m1")], oldestServer: v });
    assert.equal((await m0.memberRemove(member.id)).length, 1);
    await refuses(m0.memberRemove(member.id), "memberNotFound", "memberRemoved");
  });
}

function downgrade(v: EtcdVersion, makeWorld: () => Promise<EtcdWorld>): void {
  const own = minorOf(v);
  const below = `3.${v.minor - 1}`;

  if (!has(v, "downgradeCall")) {
    test("is not known", async () => {
      await using world = await makeWorld();
      for (const step of [
        { do: "validate", version: "3.5" },
        { do: "enable", version: "3.5" },
        { do: "cancel" },
      ] as const)
        await refuses(world.member("m0").downgrade(step), "unimplemented");
      assert.equal((await world.member("m0").status()).downgrade, undefined);
    });
    return;
  }

  const refusesAll = async (m0: EtcdMember, targets: readonly string[]): Promise<void> => {
    for (const target of targets)
      for (const step of ["validate", "enable"] as const)
        await refuses(m0.downgrade({ do: step, version: target }), "invalidDowngradeTarget");
    assert.equal((await m0.status()).downgrade, undefined);
  };

  if (!isAtLeast(v, firstDowngradable)) {
    test("is refused, also one that the server would enable without being able to start again", async () => {
      await using world = await makeWorld();
      const m0 = world.member("m0");
      await refusesAll(m0, [own, below, `${below}.0`, "3.6", "latest"]);
      await refuses(m0.downgrade({ do: "cancel" }), "noDowngrade");
    });
    return;
  }

  const storageIs = async (world: EtcdWorld, wanted: string): Promise<void> => {
    await comesTrue(
      world,
      `the storage is of ${wanted}`,
      () => world.member("m0").status(),
      ({ storageVersion }) => storageVersion === `${wanted}.0`,
    );
  };

  test("goes to the minor below and to no other", async () => {
    await using world = await makeWorld();
    const m0 = world.member("m0");
    // A server decides nothing about downgrades before it knows the version of its cluster, which it may learn after it serves.
    await storageIs(world, own);
    await refusesAll(m0, [own, "3.1", "3.99", "4.0", "latest", ""]);
    for (const target of [below, `${below}.0`, `${below}.35`]) await m0.downgrade({ do: "validate", version: target });
    assert.equal((await m0.status()).downgrade, undefined);
  });

  test("lowers the storage when it is enabled, and brings it back when it is cancelled", async () => {
    await using world = await makeWorld();
    const m0 = world.member("m0");
    await storageIs(world, own);
    await m0.downgrade({ do: "cancel" }); // nothing to cancel, and no error
    await m0.downgrade({ do: "enable", version: below });
    assert.equal((await m0.status()).downgrade, `${below}.0`);
    const again = m0.downgrade({ do: "enable", version: below });
    await refuses(again, "downgradeInProgress", "invalidDowngradeTarget");
    await storageIs(world, below);
    await refuses(m0.downgrade({ do: "enable", version: below }), "invalidDowngradeTarget");
    assert.deepEqual(await m0.health(), { t: "healthy" });
    assert.equal(
      (await m0.status()).downgrade,
      `${below}.0`,
      "it stays enabled while no member runs the lower version",
    );
    await m0.downgrade({ do: "cancel" });
    assert.equal((await m0.status()).downgrade, undefined);
    await storageIs(world, own);
  });
}

function threeVoters(v: EtcdVersion, makeWorld: () => Promise<EtcdWorld>): void {
  let world: EtcdWorld;
  const ids = new Map<string, Member["id"]>();
  const idOf = (name: string): Member["id"] => ids.get(name) ?? assert.fail(`${name} has no id`);
  before(async () => {
    world = await makeWorld();
    ids.set("m0", (await world.member("m0").status()).memberId);
    for (const name of ["m1", "m2"]) ids.set(name, (await grow(world, name)).id);
  });
  after(() => world[Symbol.asyncDispose]());

  const leaderName = async (): Promise<string> => {
    const { leader } = await comesTrue(
      world,
      "there is a leader",
      () => world.member("m0").status(),
      (status) => status.leader !== undefined,
    );
    return [...ids].find(([, id]) => id === leader)?.[0] ?? assert.fail(`${leader} leads and is no member`);
  };

  test("agree on who they are", async () => {
    const lists = await Promise.all(
      ["m0", "m1", "m2"].map((name) => world.member(name).memberList({ linearizable: true })),
    );
    for (const { members } of lists) {
      assert.deepEqual(members.map(({ id }) => id).sort(), [...ids.values()].sort());
      assert.deepEqual(members.map(({ name }) => name).sort(), ["m0", "m1", "m2"]);
      assert.ok(members.every((member) => !member.learner && member.clientUrls.length === 1));
    }
  });

  test("move the leadership only when the leader is asked", async () => {
    if (!has(v, "moveLeader")) {
      await refuses(world.member("m0").moveLeader(idOf("m1")), "unimplemented");
      return;
    }
    const leader = await leaderName();
    const follower = leader === "m1" ? "m2" : "m1";
    await refuses(world.member(follower).moveLeader(idOf(follower)), "notLeader");
    await world.member(leader).moveLeader(idOf(follower));
    await comesTrue(
      world,
      `${follower} leads`,
      () => world.member("m0").status(),
      (status) => status.leader === idOf(follower),
    );
  });

  test("read and write on with one of them gone, take no new member, and let the dead one be removed", async () => {
    await world.kill("m2");
    await assert.rejects(
      world.member("m2").status(),
      (error) => error instanceof TransportError && (error.failure === "unreachable" || error.failure === "broken"),
    );
    const m0 = world.member("m0");
    await comesTrue(
      world,
      "two of three are healthy",
      () => m0.health(),
      (health) => health.t === "healthy",
    );
    await m0.put("two", "of three");
    await refuses(m0.memberAdd({ as: "voter", peerUrls: [world.peerUrl("m3")] }), "unhealthyCluster");
    await removed(world, m0, idOf("m2"));
    assert.equal((await m0.memberList({ linearizable: true })).members.length, 2);
  });

  test("tell what they know and decide nothing without a quorum, and go on when it is back", async () => {
    await world.kill("m1");
    const m0 = world.member("m0");
    await comesTrue(
      world,
      "the survivor knows no leader",
      () => m0.status(),
      (status) => status.leader === undefined,
    );
    assert.equal(text((await m0.get("two", { serializable: true }))?.value), "of three");
    assert.equal((await m0.memberList({ linearizable: false })).members.length, 2);
    const short = { deadline: 2000 };
    await assert.rejects(m0.put("two", "lost", short), isUndecided);
    await assert.rejects(m0.memberList({ linearizable: true }, short), isUndecided);
    const health = await m0.health(short);
    assert.ok(health.t === "unhealthy" && isUndecided(health.error));
    assert.ok((await m0.snapshot(() => {})).bytes > 0);

    await world.revive("m1");
    await comesTrue(
      world,
      "the quorum is back",
      () => m0.health(),
      (seen) => seen.t === "healthy",
    );
    const value = text((await m0.get("two"))?.value);
    assert.ok(value === "of three" || value === "lost", "a write without an answer may have happened");
  });
}
