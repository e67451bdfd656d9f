import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TransportError } from "../../transport/errors.ts";
import { EtcdError } from "../errors.ts";
import { formatVersion, version } from "../versions/version.ts";
import { etcdContract } from "./contract.ts";
import { type Boot, FakeEtcd } from "./fake-etcd.ts";
import type { EtcdWorld } from "./world.ts";

const peerUrl = (name: string): string => `http://${name}.fake:2380`;
const clientUrl = (name: string): string => `http://${name}.fake:2379`;
const process = (name: string) => ({ name, peerUrl: peerUrl(name), clientUrl: clientUrl(name) });

function world(text: string): EtcdWorld {
  let now = 1_000_000;
  const etcd = new FakeEtcd(process("m0"), { now: () => now, version: text });
  return {
    version: version(text),
    log: "",
    member: (name, login) => etcd.at(clientUrl(name), login),
    setUser: async (login, roles) => etcd.auth.setUser(login, roles),
    enableAuth: async () => etcd.auth.enable(),
    disableAuth: async () => etcd.auth.disable(),
    peerUrl,
    join: async (name) => void etcd.start(process(name)),
    kill: async (name) => etcd.set(name, "stopped"),
    revive: async (name) => etcd.set(name, "running"),
    fillUp: async () => etcd.raise("m0", "noSpace"),
    letTimePass: async () => {
      now += 100;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

for (const text of ["3.2.13", "3.4.23", "3.5.21", "3.5.35", "3.6.16", "3.7.3"])
  etcdContract(`the in-memory etcd ${text}`, version(text), async () => world(text));

const reason = (wanted: EtcdError["reason"]) => (error: unknown) =>
  error instanceof EtcdError && error.reason === wanted;
const failure = (wanted: TransportError["failure"]) => (error: unknown) =>
  error instanceof TransportError && error.failure === wanted;

describe("the in-memory etcd", () => {
  function cluster(text = "3.6.16", maxLearners = 1) {
    const clock = { now: 1_000_000 };
    const etcd = new FakeEtcd(process("m0"), { now: () => clock.now, version: text, maxLearners, catchUp: 300 });
    return { etcd, clock, m0: etcd.at(clientUrl("m0")), oldestServer: version(text) };
  }
  const learnerOf = (name: string, oldestServer = version("3.6.16")) =>
    ({ as: "learner", peerUrls: [peerUrl(name)], oldestServer }) as const;

  test("takes as many learners at once as it was started with, where that can be said", async () => {
    const { m0 } = cluster("3.6.16", 2);
    await m0.memberAdd(learnerOf("m1"));
    await m0.memberAdd(learnerOf("m2"));
    await assert.rejects(m0.memberAdd(learnerOf("m3")), reason("tooManyLearners"));
    const old = cluster("3.5.35", 2);
    await old.m0.memberAdd(learnerOf("m1", old.oldestServer));
    await assert.rejects(old.m0.memberAdd(learnerOf("m2", old.oldestServer)), reason("tooManyLearners"));
  });

  test("promotes a learner when it has caught up and not before", async () => {
    const { etcd, clock, m0 } = cluster();
    const { member } = await m0.memberAdd(learnerOf("m1"));
    etcd.start(process("m1"));
    clock.now += 299;
    await assert.rejects(m0.memberPromote(member.id), reason("learnerNotReady"));
    clock.now += 1;
    assert.equal((await m0.memberPromote(member.id)).filter(({ learner }) => learner).length, 0);
  });

  test("refuses a third member until the link to the second is more than 5 s old", async () => {
    const { etcd, clock, m0 } = cluster();
    const { member } = await m0.memberAdd(learnerOf("m1"));
    etcd.start(process("m1"));
    clock.now += 300;
    await m0.memberPromote(member.id);
    clock.now += 4700;
    await assert.rejects(m0.memberAdd(learnerOf("m2")), reason("unhealthyCluster"));
    clock.now += 1;
    await m0.memberAdd(learnerOf("m2"));
  });

  test("may take a member that came back for inactive, and only at the one that led meanwhile", async () => {
    const clock = { now: 0 };
    const etcd = new FakeEtcd(process("m0"), { now: () => clock.now, overlooks: true });
    const [m0, m1] = [etcd.at(clientUrl("m0")), etcd.at(clientUrl("m1"))];
    await m0.memberAdd({ as: "voter", peerUrls: [peerUrl("m1")] });
    etcd.start(process("m1"));
    clock.now += 10_000;
    etcd.start(process("m1"));
    clock.now += 10_000;
    await assert.rejects(m0.memberAdd({ as: "voter", peerUrls: [peerUrl("m2")] }), reason("unhealthyCluster"));
    await m1.memberAdd({ as: "voter", peerUrls: [peerUrl("m2")] });
  });

  test("lets one go that it takes for inactive, as one that is down", async () => {
    const clock = { now: 0 };
    const etcd = new FakeEtcd(process("m0"), { now: () => clock.now, overlooks: true });
    const m0 = etcd.at(clientUrl("m0"));
    const { member } = await m0.memberAdd({ as: "voter", peerUrls: [peerUrl("m1")] });
    etcd.start(process("m1"));
    clock.now += 10_000;
    etcd.start(process("m1"));
    clock.now += 10_000;
    assert.equal((await m0.memberRemove(member.id)).length, 1);
  });

  test("loses its quorum when a second voter is added and does not start", async () => {
    const { m0, etcd } = cluster();
    await m0.memberAdd({ as: "voter", peerUrls: [peerUrl("m1")] });
    assert.equal((await m0.health()).t, "unhealthy");
    assert.equal(etcd.leader, undefined);
    await assert.rejects(m0.put("a", "1"), reason("timeout"));
  });

  test("gives each kind of absence its own failure", async () => {
    const { etcd, m0 } = cluster();
    for (const [state, wanted] of [
      ["stopped", "unreachable"],
      ["isolated", "connectTimeout"],
      ["frozen", "deadline"],
      ["endless", "tooLarge"],
    ] as const) {
      etcd.set("m0", state);
      await assert.rejects(m0.status(), failure(wanted));
    }
    etcd.set("m0", "running");
    assert.equal((await m0.status()).version, formatVersion(version("3.6.16")));
    etcd.lose("m0");
    await assert.rejects(m0.status(), failure("unreachable"));
  });

  test("lets a member that its peers cannot reach answer, and decide nothing", async () => {
    const { etcd, clock, m0 } = cluster("3.6.16", 2);
    const added = [await m0.memberAdd(learnerOf("m1")), await m0.memberAdd(learnerOf("m2"))];
    for (const name of ["m1", "m2"]) etcd.start(process(name));
    clock.now += 300;
    for (const { member } of added) await m0.memberPromote(member.id);
    etcd.set("m0", "partitioned");
    assert.equal((await m0.status()).leader, undefined);
    await assert.rejects(m0.put("a", "1"), reason("timeout"));
    await etcd.at(clientUrl("m1")).put("a", "1");
    assert.notEqual(etcd.leader, etcd.idOf("m0"));
  });

  test("gives another id to a member that comes back after its removal", async () => {
    const { clock, m0 } = cluster();
    const { member } = await m0.memberAdd(learnerOf("m1"));
    await m0.memberRemove(member.id);
    clock.now += 1000;
    assert.notEqual((await m0.memberAdd(learnerOf("m1"))).member.id, member.id);
  });
});

describe("a process of the in-memory etcd", () => {
  /** Three voters, `m0` the seed; everything that can be sent has been. */
  async function three(random?: () => number) {
    const clock = { now: 1_000_000 };
    const now = (): number => clock.now;
    const etcd = new FakeEtcd(process("m0"), { now, maxLearners: 8, catchUp: 300, ...(random && { random }) });
    const m0 = etcd.at(clientUrl("m0"));
    const oldestServer = version("3.6.16");
    const added = [];
    for (const name of ["m1", "m2"])
      added.push(await m0.memberAdd({ as: "learner", peerUrls: [peerUrl(name)], oldestServer }));
    for (const name of ["m1", "m2"]) etcd.start(process(name));
    clock.now += 300;
    for (const { member } of added) {
      etcd.replicate();
      await m0.memberPromote(member.id);
    }
    clock.now += 10_000;
    etcd.replicate();
    return { etcd, clock, m0 };
  }
  const all = ["m0", "m1", "m2"].map(peerUrl);
  const boot = (name: string, more: Partial<Boot> = {}): Boot => ({
    ...process(name),
    version: "3.6.16",
    maxLearners: 8,
    data: undefined,
    initialState: "existing",
    initialCluster: all,
    ...more,
  });

  test("that lost the seed's data leads a cluster of the same ids for a moment, at a lower term, and is overwritten", async () => {
    const { etcd, clock, m0 } = await three();
    const before = await m0.status();
    etcd.set("m1", "stopped");
    etcd.set("m1", "running");
    etcd.end(clientUrl("m0"), "gone");
    assert.equal(etcd.boot(boot("m0", { initialState: "new", initialCluster: [peerUrl("m0")] })).t, "runs");
    const split = await m0.status();
    assert.deepEqual(
      [split.clusterId, split.memberId, split.leader],
      [etcd.clusterId, before.memberId, before.memberId],
    );
    assert.ok(split.raftTerm < etcd.term && split.raftIndex < before.raftIndex);
    assert.equal((await m0.memberList({ linearizable: true })).members.length, 1);
    await m0.put("acknowledged", "by the wrong one");
    clock.now += 400;
    assert.equal((await m0.memberList({ linearizable: true })).members.length, 3);
    assert.equal(await m0.get("acknowledged"), undefined);
    assert.deepEqual([etcd.lost, etcd.emptyVoters], [1, ["m0"]]);
  });

  test("that lost its data comes back as an empty voter when its list still matches", async () => {
    const { etcd } = await three();
    etcd.end(clientUrl("m2"), "gone");
    assert.equal(etcd.boot(boot("m2")).t, "runs");
    assert.deepEqual(etcd.emptyVoters, ["m2"]);
  });

  test("without data and without anybody to ask ends", async () => {
    const { etcd } = await three();
    etcd.end(clientUrl("m0"), "gone");
    const alone = etcd.boot(boot("m0", { initialCluster: [peerUrl("m0")] }));
    assert.match(alone.t === "ends" ? alone.words : "", /^could not retrieve cluster information/);
    const other = etcd.boot(boot("m0", { initialCluster: [...all, peerUrl("m9")] }));
    assert.match(other.t === "ends" ? other.words : "", /member count is unequal/);
  });

  test("with data reads no list, and ends when its member was removed", async () => {
    const { etcd, m0 } = await three();
    const data = etcd.idOf("m2");
    etcd.end(clientUrl("m2"), "kept");
    assert.equal(etcd.boot(boot("m2", { data, initialCluster: [] })).t, "runs");
    assert.equal((await etcd.at(clientUrl("m2")).status()).raftIndex, (await m0.status()).raftIndex);
    etcd.end(clientUrl("m2"), "kept");
    await m0.memberRemove(data);
    const removed = etcd.boot(boot("m2", { data }));
    assert.match(removed.t === "ends" ? removed.words : "", /permanently removed/);
  });

  test("of an older minor version than the cluster's ends", async () => {
    const { etcd, m0 } = await three();
    await m0.memberAdd({ as: "learner", peerUrls: [peerUrl("m3")], oldestServer: version("3.6.16") });
    const initialCluster = [...all, peerUrl("m3")];
    const older = etcd.boot(boot("m3", { initialCluster, version: "3.5.35" }));
    assert.match(older.t === "ends" ? older.words : "", /lower than determined cluster version/);
    assert.equal(etcd.boot(boot("m3", { initialCluster, version: "3.7.3" })).t, "runs");
  });

  test("takes as many learners as its own flags say", async () => {
    const { etcd, clock, m0 } = await three();
    etcd.restart(etcd.idOf("m0"), { ...process("m0"), maxLearners: 1 });
    clock.now += 10_000;
    const learner = (name: string) =>
      ({ as: "learner", peerUrls: [peerUrl(name)], oldestServer: version("3.6.16") }) as const;
    await m0.memberAdd(learner("m3"));
    await assert.rejects(m0.memberAdd(learner("m4")), reason("tooManyLearners"));
    await etcd.at(clientUrl("m1")).memberAdd(learner("m4"));
  });

  test("that forgot what it acknowledged may elect one that lacks it", async () => {
    const luck = { now: 0.1 };
    const { etcd, clock } = await three(() => luck.now);
    luck.now = 0.9;
    assert.equal(etcd.endangered, false);
    const leader = etcd.members.find(({ id }) => id === etcd.leader)?.name ?? "";
    await etcd.at(clientUrl(leader)).put("acknowledged", "by two of three");
    const held = (name: string): number => etcd.processAt(clientUrl(name))?.held ?? 0;
    const follower = ["m0", "m1", "m2"].find((name) => name !== leader && held(name) === etcd.entries) ?? "";
    etcd.end(clientUrl(follower), "gone");
    etcd.boot(boot(follower));
    assert.equal(etcd.endangered, true);
    clock.now += 1000;
    etcd.end(clientUrl(leader), "kept");
    assert.ok(etcd.lost > 0);
  });
});

describe("the versions of the in-memory etcd", () => {
  /** Voters that all run this version. */
  async function voters(text: string, names: readonly string[]) {
    const clock = { now: 1_000_000 };
    const etcd = new FakeEtcd(process("m0"), { now: () => clock.now, version: text });
    const m0 = etcd.at(clientUrl("m0"));
    for (const name of names.slice(1)) {
      clock.now += 10_000;
      const { member } = await m0.memberAdd({ as: "learner", peerUrls: [peerUrl(name)], oldestServer: version(text) });
      etcd.start(process(name));
      await m0.memberPromote(member.id);
    }
    /** Ends a process and starts it again in another version, with its data. */
    const change = (name: string, to: string): string => {
      const data = etcd.idOf(name);
      etcd.end(clientUrl(name), "kept");
      const more = { initialState: "existing", initialCluster: [] } as const;
      const booted = etcd.boot({ ...process(name), version: to, maxLearners: 1, data, ...more });
      return booted.t === "runs" ? "runs" : booted.words;
    };
    const storages = async (): Promise<(string | undefined)[]> => {
      const statuses = await Promise.all(names.map((name) => etcd.at(clientUrl(name)).status()));
      return statuses.map(({ storageVersion }) => storageVersion);
    };
    return { etcd, clock, m0, change, storages };
  }
  const names = ["m0", "m1", "m2"];
  const unreadable = /unmarshal should never fail/;
  const tooLow = /lower than determined cluster version/;

  test("go up a while after the last member runs the newer one, and not while one is down", async () => {
    const { etcd, clock, change, storages } = await voters("3.5.35", names);
    for (const name of names) assert.equal(change(name, "3.6.16"), "runs");
    assert.deepEqual([etcd.minor, await storages()], [5, ["3.5.0", "3.5.0", "3.5.0"]]);
    clock.now += 3000;
    etcd.set("m2", "stopped");
    clock.now += 60_000;
    assert.equal(etcd.minor, 5);
    assert.equal(change("m2", "3.5.35"), "runs", "until then there is a way back");
    assert.equal(change("m2", "3.6.16"), "runs");
    clock.now += 4000;
    assert.equal(etcd.minor, 6);
    clock.now += 1000;
    assert.deepEqual(await storages(), ["3.6.0", "3.6.0", "3.6.0"]);
    assert.match(change("m2", "3.5.35"), tooLow);
  });

  test("go down by a downgrade, one storage after another, and it ends by itself when all run the lower one", async () => {
    const { etcd, clock, m0, change, storages } = await voters("3.6.16", names);
    assert.match(change("m2", "3.5.35"), tooLow);
    assert.equal(change("m2", "3.6.16"), "runs");
    await m0.downgrade({ do: "enable", version: "3.5" });
    clock.now += 4000;
    assert.deepEqual(await storages(), ["3.5.0", "3.6.0", "3.6.0"]);
    clock.now += 1000;
    assert.deepEqual(await storages(), ["3.5.0", "3.5.0", "3.5.0"]);
    for (const name of ["m2", "m1"]) assert.equal(change(name, "3.5.35"), "runs");
    clock.now += 60_000;
    assert.equal((await m0.status()).downgrade, "3.5.0");
    assert.equal(change("m0", "3.5.35"), "runs");
    assert.equal(etcd.downgradeTarget, "3.5.0");
    clock.now += 5000;
    assert.equal(etcd.downgradeTarget, undefined);
    clock.now += 60_000;
    assert.equal(etcd.minor, 5);
  });

  test("stay down after a cancelled downgrade as long as one member runs the lower one", async () => {
    const { etcd, clock, m0, change } = await voters("3.7.3", names);
    await m0.downgrade({ do: "enable", version: "3.6.0" });
    clock.now += 4000;
    assert.equal(change("m2", "3.6.16"), "runs");
    await m0.downgrade({ do: "cancel" });
    clock.now += 60_000;
    assert.equal(etcd.minor, 6);
    assert.equal(change("m2", "3.7.3"), "runs");
    clock.now += 4000;
    assert.equal(etcd.minor, 7);
  });

  test("do not change for a downgrade while a member is down, or without a quorum", async () => {
    const { etcd, clock, m0 } = await voters("3.6.16", names);
    etcd.set("m2", "stopped");
    await m0.downgrade({ do: "enable", version: "3.5" });
    clock.now += 60_000;
    assert.deepEqual([etcd.minor, (await m0.status()).downgrade], [6, "3.5.0"]);
    etcd.set("m1", "stopped");
    await m0.downgrade({ do: "cancel" }); // succeeds as on real servers, and does nothing
    assert.equal((await m0.status()).downgrade, "3.5.0");
    await assert.rejects(m0.downgrade({ do: "validate", version: "3.5" }), reason("timeout"));
  });

  test("keep a member from 3.7 while its log has entries of 3.5, until a falling cluster version made it write a snapshot", async () => {
    const { clock, m0, change } = await voters("3.5.35", names);
    for (const name of names) assert.equal(change(name, "3.6.16"), "runs");
    clock.now += 10_000;
    await m0.put("a", "1");
    assert.match(change("m2", "3.7.3"), unreadable);
    assert.equal(change("m2", "3.6.16"), "runs");
    await m0.downgrade({ do: "enable", version: "3.5" });
    clock.now += 5000;
    await m0.status();
    await m0.downgrade({ do: "cancel" });
    clock.now += 5000;
    for (const name of names) assert.equal(change(name, "3.7.3"), "runs");
  });

  test("let a member of 3.7 in where none before 3.6 ever ran", async () => {
    const { change } = await voters("3.6.16", names);
    for (const name of names) assert.equal(change(name, "3.7.3"), "runs");
  });
});
