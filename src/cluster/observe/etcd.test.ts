import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClusterId, clusterId, type MemberId } from "../../etcd/ids.ts";
import { Login } from "../../etcd/login.ts";
import type { EtcdMember, MemberStatus } from "../../etcd/member.ts";
import type { Endpoint } from "../../etcd/members.ts";
import { FakeEtcd } from "../../etcd/testing/fake-etcd.ts";
import { has } from "../../etcd/versions/features.ts";
import { version } from "../../etcd/versions/version.ts";
import { memberUrl } from "../objects/endpoints.ts";
import { memberName } from "../objects/names.ts";
import { observedEtcd } from "./etcd.ts";
import type { LoginSource } from "./login.ts";
import type { AccessTrouble } from "./world.ts";
import { samplePod } from "../testing/sample-world.ts";

const address = (letter: string): string => `10.0.0.${letter.charCodeAt(0)}`;
const start = (letter: string) => ({
  name: `demo-${letter}`,
  peerUrl: `http://demo-${letter}:2380`,
  clientUrl: memberUrl(address(letter)),
});
const source: LoginSource = { t: "none" };
const regressed = (): ReadonlySet<MemberId> => new Set();
const podsOf = (...letters: string[]) =>
  letters.map((letter) => samplePod(`demo-${letter}`, { address: address(letter) }));

/** Voters with these letters, whose links are old enough for any change. */
async function etcdOf(first: string, ...others: string[]): Promise<FakeEtcd> {
  let time = 0;
  const etcd = new FakeEtcd(start(first), { now: () => (time += 10_000) });
  const seed = etcd.at(memberUrl(address(first)));
  assert.ok(has(version("3.6.16"), "learners"));
  for (const letter of others) {
    const { peerUrl } = start(letter);
    const { member } = await seed.memberAdd({ as: "learner", peerUrls: [peerUrl], oldestServer: version("3.6.16") });
    etcd.start(start(letter));
    await seed.memberPromote(member.id);
  }
  return etcd;
}

function observed(
  etcd: Pick<FakeEtcd, "at" | "clusterId">,
  letters: readonly string[] = ["a", "b", "c"],
  recorded: ClusterId | undefined = etcd.clusterId,
) {
  const { signal } = new AbortController();
  return observedEtcd(podsOf(...letters), {
    members: { at: ({ url }) => etcd.at(url) },
    source,
    recorded,
    regressed,
    signal,
  });
}

test("members are asked at the addresses of their pods only, whatever client URLs etcd lists", async () => {
  const etcd = await etcdOf("a", "b", "c");
  const dialled: Endpoint[] = [];
  const clientUrls = ["http://collector.example.com:2379"];
  const listingStrays = (member: EtcdMember): EtcdMember => {
    const asked: Pick<EtcdMember, "status" | "health" | "memberList"> = {
      status: (call) => member.status(call),
      health: (call) => member.health(call),
      async memberList(options, call) {
        const list = await member.memberList(options, call);
        return { ...list, members: list.members.map((one) => ({ ...one, clientUrls })) };
      },
    };
    return asked as EtcdMember;
  };
  const view = await observedEtcd(podsOf("a", "b", "c"), {
    members: {
      at(endpoint) {
        dialled.push(endpoint);
        return listingStrays(etcd.at(endpoint.url));
      },
    },
    source: { t: "given", secret: "login", login: new Login("root", "word") },
    recorded: etcd.clusterId,
    regressed,
    signal: new AbortController().signal,
  });
  assert.ok(view.t === "quorum");
  assert.deepEqual(view.members[0]?.clientUrls, clientUrls);
  assert.deepEqual(
    dialled.map(({ url, login }) => [url, login?.username]),
    ["a", "b", "c"].map((letter) => [memberUrl(address(letter)), "root"]),
  );
});

test("members that agree are seen through the quorum", async () => {
  const etcd = await etcdOf("a", "b", "c");
  const view = await observed(etcd);
  assert.equal(view.t, "quorum");
  assert.ok(view.t === "quorum" && [...view.answers.values()].every(({ healthy }) => healthy));
  assert.equal(view.t === "quorum" && view.members.length, 3);
});

test("the list is read through the quorum, and from a member's memory only where there is none", async () => {
  const etcd = await etcdOf("a", "b", "c");
  const asked: boolean[] = [];
  const at = (url: string): EtcdMember => {
    const member = etcd.at(url);
    const memberList: EtcdMember["memberList"] = (options) => (
      asked.push(options.linearizable), member.memberList(options)
    );
    return { ...member, memberList };
  };
  await observed({ clusterId: etcd.clusterId, at });
  assert.deepEqual(asked, [true]);
  etcd.set("demo-b", "stopped");
  etcd.set("demo-c", "stopped");
  await observed({ clusterId: etcd.clusterId, at });
  assert.deepEqual(asked, [true, false]);
});

test("of members that are about as far, the leader is asked for the list", async () => {
  const etcd = await etcdOf("a", "b", "c");
  const asked: string[] = [];
  const at = (url: string): EtcdMember => {
    const member = etcd.at(url);
    return { ...member, memberList: (options) => (asked.push(url), member.memberList(options)) };
  };
  await observed({ clusterId: etcd.clusterId, at }, ["b", "a", "c"]);
  assert.deepEqual(asked, [memberUrl(address("a"))]);
});

test("no question outlasts a second", async () => {
  const etcd = await etcdOf("a", "b", "c");
  etcd.set("demo-b", "stopped");
  etcd.set("demo-c", "stopped");
  const deadlines: (number | undefined)[] = [];
  const at = (url: string): EtcdMember => {
    const member = etcd.at(url);
    return {
      ...member,
      status: (call) => (deadlines.push(call?.deadline), member.status(call)),
      health: (call) => (deadlines.push(call?.deadline), member.health(call)),
      memberList: (options, call) => (deadlines.push(call?.deadline), member.memberList(options, call)),
    };
  };
  await observed({ clusterId: etcd.clusterId, at });
  assert.ok(deadlines.length > 6);
  assert.ok(
    deadlines.every((deadline) => (deadline ?? Infinity) <= 1000),
    String(deadlines),
  );
});

test("before there is an id, the cluster is the one that most pods answer as", async () => {
  const [ours, other] = [await etcdOf("a", "b"), await etcdOf("x")];
  const stranger = clusterId(0x77n);
  const at = (url: string): EtcdMember => {
    if (url !== memberUrl(address("x"))) return ours.at(url);
    const member = other.at(url);
    return { ...member, status: async () => ({ ...(await member.status()), clusterId: stranger }) };
  };
  const { signal } = new AbortController();
  const asking = {
    members: { at: (to: { url: string }) => at(to.url) },
    source,
    recorded: undefined,
    regressed,
    signal,
  };
  const view = await observedEtcd(podsOf("x", "a", "b"), asking);
  assert.deepEqual(view.t === "quorum" && [view.clusterId, view.strangers.length], [ours.clusterId, 1]);
});

test("a fault of ours is not taken for the silence of a member", async () => {
  const etcd = await etcdOf("a");
  const at = (url: string): EtcdMember => ({
    ...etcd.at(url),
    status: () => Promise.reject(new TypeError("a mistake")),
  });
  await assert.rejects(observed({ clusterId: etcd.clusterId, at }, ["a"]), TypeError);
});

test("a frozen member is listed and does not answer", async () => {
  const etcd = await etcdOf("a", "b", "c");
  etcd.set("demo-b", "frozen");
  const view = await observed(etcd);
  assert.ok(view.t === "quorum");
  assert.deepEqual([view.members.length, view.answers.size, view.answers.has(etcd.idOf("demo-b"))], [3, 2, false]);
});

test("a member that answers without end is listed, and known by what was too much", async () => {
  const etcd = await etcdOf("a", "b", "c");
  etcd.set("demo-b", "endless");
  const view = await observed(etcd);
  assert.ok(view.t === "quorum");
  assert.deepEqual([view.members.length, view.answers.size], [3, 2]);
  assert.deepEqual([...(view.unreadable?.keys() ?? [])], ["demo-b"]);
  assert.match(view.unreadable?.get(memberName("demo-b")) ?? "", /more than \d+ bytes/);
});

test("a cluster of which every member answers without end is silent, and ends no reconcile", async () => {
  const etcd = await etcdOf("a");
  etcd.set("demo-a", "endless");
  const view = await observed(etcd, ["a"]);
  assert.ok(view.t === "silent");
  assert.deepEqual([view.tried, view.unreadable?.size], [["demo-a"], 1]);
});

test("a member that its kubelet finds ready is given a second chance to answer, and any other is not", async () => {
  for (const ready of [true, false]) {
    const etcd = await etcdOf("a", "b", "c");
    etcd.set("demo-b", "frozen");
    let asked = 0;
    const late = {
      at: ({ url }: { url: string }): EtcdMember => {
        const member = etcd.at(url);
        if (url !== memberUrl(address("b"))) return member;
        asked += 1;
        if (asked === 2) etcd.set("demo-b", "running");
        return member;
      },
    };
    const { signal } = new AbortController();
    const pods = podsOf("a", "b", "c").map((pod) => ({ ...pod, ready }));
    const view = await observedEtcd(pods, { members: late, source, recorded: etcd.clusterId, regressed, signal });
    assert.ok(view.t === "quorum");
    assert.equal(view.answers.get(etcd.idOf("demo-b"))?.healthy, ready ? true : undefined);
  }
});

test("one of three answers and can decide nothing", async () => {
  const etcd = await etcdOf("a", "b", "c");
  etcd.set("demo-b", "stopped");
  etcd.set("demo-c", "stopped");
  const view = await observed(etcd);
  assert.ok(view.t === "noQuorum");
  assert.deepEqual([view.members.length, view.answers.size], [3, 1]);
});

test("one that could not do better is not asked again: a voter without a leader, a learner, or one that is well", async () => {
  const etcd = await etcdOf("a", "b", "c");
  etcd.set("demo-b", "stopped");
  etcd.set("demo-c", "stopped");
  const withLearner = await etcdOf("a");
  const { peerUrl } = start("b");
  const learner = { as: "learner", peerUrls: [peerUrl], oldestServer: version("3.6.16") } as const;
  await withLearner.at(memberUrl(address("a"))).memberAdd(learner);
  withLearner.start(start("b"));
  for (const [of, letter] of [
    [etcd, "a"],
    [withLearner, "b"],
    [withLearner, "a"],
  ] as const) {
    const asked: string[] = [];
    await observed({ clusterId: of.clusterId, at: (url) => (asked.push(url), of.at(url)) }, [letter]);
    assert.deepEqual(asked, [memberUrl(address(letter))]);
  }
});

test("a majority that comes back between the answers and the list is not taken for a lost one", async () => {
  const etcd = await etcdOf("a", "b", "c");
  etcd.set("demo-b", "stopped");
  etcd.set("demo-c", "stopped");
  const view = await observed({
    clusterId: etcd.clusterId,
    at(url) {
      const member = etcd.at(url);
      const memberList: EtcdMember["memberList"] = (options) => {
        etcd.set("demo-b", "running");
        return member.memberList(options);
      };
      return { ...member, memberList };
    },
  });
  assert.ok(view.t === "quorum");
  assert.deepEqual([view.members.length, view.answers.size], [3, 2]);
});

test("nobody to ask and nobody who answers are different things", async () => {
  const etcd = await etcdOf("a");
  const { signal } = new AbortController();
  const asking = {
    members: { at: ({ url }: { url: string }) => etcd.at(url) },
    source,
    recorded: undefined,
    regressed,
    signal,
  };
  const waiting = samplePod("demo-a", { address: undefined });
  assert.deepEqual(await observedEtcd([waiting], asking), { t: "nobody" });
  etcd.set("demo-a", "stopped");
  assert.deepEqual(await observed(etcd, ["a"]), { t: "silent", tried: ["demo-a"] });
});

test("a pod that answers as a member of another cluster is a stranger, and its list counts for nothing", async () => {
  const etcd = await etcdOf("a");
  const view = await observed(etcd, ["a"], clusterId(0x77n));
  assert.ok(view.t === "noQuorum");
  assert.deepEqual(view.strangers, [{ pod: "demo-a", clusterId: etcd.clusterId }]);
  assert.deepEqual([view.members, view.answers.size], [[], 0]);
});

test("an IPv6 address is dialled as a URL has it", () => {
  assert.equal(memberUrl("fd00::7"), "http://[fd00::7]:2379");
});

/** As if `letter` had started again without its data and led a cluster of its own, under the same ids. */
function withWiped(etcd: FakeEtcd, letter: string, differs: Partial<MemberStatus>, forReads = Infinity) {
  const id = etcd.idOf(`demo-${letter}`);
  const url = memberUrl(address(letter));
  let reads = 0;
  return {
    clusterId: etcd.clusterId,
    at(at: string): EtcdMember {
      const member = etcd.at(at);
      if (at !== url) return member;
      reads += 1;
      if (reads > forReads) return member;
      return {
        ...member,
        status: async () => ({ ...(await member.status()), raftIndex: 4, leader: id, ...differs }),
        memberList: async () => {
          const { clusterId, members } = await member.memberList({ linearizable: true });
          return { clusterId, members: members.filter((one) => one.id === id) };
        },
      };
    },
  };
}

test("the list is taken from the members of the highest term, whoever else leads", async () => {
  const etcd = await etcdOf("a", "b", "c");
  await etcd.at(memberUrl(address("b"))).put("key", "value");
  const view = await observed(withWiped(etcd, "c", { raftTerm: 1 }));
  assert.ok(view.t === "quorum");
  assert.equal(view.members.length, 3);
});

test("the list is taken from the members that are further, when the leader of the same term is far behind", async () => {
  const etcd = await etcdOf("a", "b", "c");
  for (let n = 0; n < 20; n += 1) await etcd.at(memberUrl(address("b"))).put(`key${n}`, "value");
  const view = await observed(withWiped(etcd, "a", {}));
  assert.ok(view.t === "quorum");
  assert.equal(view.members.length, 3);
});

test("leaders that disagree are seen when they still do at a second look, and an election is not", async () => {
  const etcd = await etcdOf("a", "b", "c");
  const rivals = [etcd.idOf("demo-a"), etcd.idOf("demo-c")].toSorted();
  const lasting = await observed(withWiped(etcd, "c", { raftTerm: 1 }));
  assert.deepEqual(lasting.t === "quorum" && [...lasting.rivals].toSorted(), rivals);
  const passing = await observed(withWiped(etcd, "c", { raftTerm: 1 }, 1));
  assert.deepEqual(passing.t === "quorum" && passing.rivals, []);
});

test("members that come to ask for a login between the answers and the list keep the operator out: no quorum is lost", async () => {
  const etcd = await etcdOf("a", "b", "c");
  etcd.auth.setUser(new Login("root", "secret"), ["root"]);
  const view = await observed({
    clusterId: etcd.clusterId,
    at(url) {
      const member = etcd.at(url);
      return { ...member, memberList: (options) => (etcd.auth.enable(), member.memberList(options)) };
    },
  });
  const all = ["demo-a", "demo-b", "demo-c"];
  assert.deepEqual(view, { t: "accessDenied", trouble: { t: "noLogin" }, refusing: all, serving: all });
});

test("members that ask for a login are not silent: they keep the operator out, and serve or do not", async () => {
  for (const text of ["3.6.16", "3.5.21"]) {
    const etcd = await etcdOf("a", "b", "c");
    const root = new Login("root", "secret");
    for (const name of ["demo-a", "demo-b", "demo-c"])
      etcd.restart(etcd.idOf(name), { ...start(name.slice(-1)), version: text });
    etcd.auth.setUser(root, ["root"]);
    etcd.auth.setUser(new Login("guest", "secret"), []);
    etcd.auth.enable();
    const { signal } = new AbortController();
    const read = (source: LoginSource) => {
      const members = { at: ({ url, login }: Endpoint) => etcd.at(url, login) };
      return observedEtcd(podsOf("a", "b", "c"), { members, source, recorded: etcd.clusterId, regressed, signal });
    };
    const as = (username: string, password = "secret"): LoginSource => ({
      t: "given",
      secret: "login",
      login: new Login(username, password),
    });
    const all = ["demo-a", "demo-b", "demo-c"];
    const out = (trouble: AccessTrouble, serving = all, refusing = all) => ({
      t: "accessDenied",
      trouble,
      refusing,
      serving,
    });
    assert.deepEqual(await read({ t: "none" }), out({ t: "noLogin" }));
    assert.deepEqual(await read(as("root", "wrong")), out({ t: "wrongPassword", secret: "login" }));
    assert.deepEqual(await read(as("guest")), out({ t: "notRoot", secret: "login" }));
    const known = as("root");
    assert.equal((await read(known)).t, "quorum");
    etcd.set("demo-c", "stopped");
    const two = all.slice(0, 2);
    assert.deepEqual(await read({ t: "none" }), out({ t: "noLogin" }, two, two));
    etcd.set("demo-b", "stopped");
    assert.equal((await read(known)).t, "noQuorum", "who was let in before still is");
    const alone = await read({ t: "none" });
    assert.deepEqual(alone, text === "3.6.16" ? out({ t: "noLogin" }, [], ["demo-a"]) : { ...alone, t: "noQuorum" });
  }
});
