// What safety gives to those that ask, beyond the arithmetic: which pods are deleted, how, and which are never touched.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../assess/assess.ts";
import type { MemberPod } from "../observe/world.ts";
import { inWords } from "../testing/actions-in-words.ts";
import {
  added,
  crashing,
  ended,
  going,
  gone,
  learner,
  minute,
  onSilentNode,
  starting,
  three,
  voter,
} from "../testing/plan-table.ts";
import { type SampleMember, type SampleWorld, sampleNow, samplePod, sampleWorld } from "../testing/sample-world.ts";
import type { ClusterAction, ActionOf } from "./actions.ts";
import {
  changeBrokenImage,
  changeImage,
  deleteFailedSeed,
  deleteOrphan,
  deleteSecondVoterPod,
  deleteUnstarted,
  recreate,
  removeDoomed,
  removeGone,
  removeHealthy,
} from "./safety.ts";

const assessed = (sample: SampleWorld) => assess(sampleWorld(sample), sampleNow);
const words = (actions: readonly ClusterAction[] | undefined) =>
  actions === undefined ? "refused" : inWords(actions).join(", ");

/** The third of three, with what it is judged by. */
function third(member: SampleMember, more: SampleWorld = {}) {
  const table = assessed({ members: [voter("a"), voter("b"), member], ...more });
  const instance = table.instances[2];
  assert.ok(instance);
  return { table, instance };
}

describe("a member that gets another pod on its volume", () => {
  const onVolume = (letter: string, more: Partial<SampleMember> = {}) => voter(letter, { claim: {}, ...more });
  const away = { silent: true, pod: crashing(minute) } as const;
  const given = (members: readonly SampleMember[], which: number): string => {
    const table = assessed({ members });
    const instance = table.instances[which];
    assert.ok(instance);
    return words(recreate(table, instance, "a test"));
  };

  test("that serves gets it while all others are healthy, and not beside one that is away", () => {
    assert.equal(given([onVolume("a"), onVolume("b"), onVolume("c")], 2), "delete c");
    assert.equal(given([onVolume("a"), onVolume("b", away), onVolume("c")], 2), "refused");
  });

  test("gets it only where its data is in a volume that stays", () => {
    const beside = (claim: NonNullable<SampleMember["claim"]>): string =>
      given([onVolume("a"), onVolume("b"), voter("c", { claim })], 2);
    assert.equal(beside({ fresh: true }), "refused");
    assert.equal(beside({ terminating: true }), "refused");
    assert.equal(beside({ phase: "Lost" }), "refused");
    assert.equal(given([onVolume("a"), onVolume("b"), voter("c")], 2), "refused");
    assert.equal(given([onVolume("a"), onVolume("b"), onVolume("c", { silent: true, pod: undefined })], 2), "refused");
  });

  test("that does not serve gets it beside another one that is away, too: nothing that serves is stopped", () => {
    assert.equal(given([onVolume("a"), onVolume("b", away), onVolume("c", away)], 2), "delete c");
  });
});

describe("a member whose volume goes with its pod", () => {
  const doomed = (letter: string, more: Partial<SampleMember> = {}) =>
    voter(letter, { ...more, claim: { terminating: true } });
  /** The last of them. */
  const gives = (members: readonly SampleMember[], size: number): string => {
    const table = assessed({ members, size });
    const instance = table.instances.at(-1);
    assert.ok(instance);
    return words(removeDoomed(table, instance, size));
  };
  test("goes when as many others serve as are wanted, and not before", () => {
    assert.equal(gives([voter("a"), voter("b"), voter("d"), doomed("c")], 3), "remove c, delete c");
    assert.equal(gives([doomed("a"), doomed("b"), voter("d"), doomed("c")], 3), "remove c, delete c");
    assert.equal(gives([voter("a"), voter("b"), doomed("c")], 3), "refused");
    assert.equal(gives([voter("a"), voter("b"), learner("d"), doomed("c")], 3), "refused");
    assert.equal(gives([voter("a"), doomed("c")], 1), "remove c, delete c");
    assert.equal(gives([doomed("c")], 1), "refused");
  });
  test("stays while one of the others is away, or leaves", () => {
    assert.equal(gives([voter("a", { silent: true }), voter("b"), voter("d"), doomed("c")], 3), "refused");
    assert.equal(gives([voter("a", { pod: going }), voter("b"), voter("d"), doomed("c")], 3), "refused");
  });
  test("is none that serves on a volume which stays, and none that does not serve", () => {
    assert.equal(gives([...three, voter("d")], 3), "refused");
    assert.equal(gives([...three, doomed("d", { silent: true })], 3), "refused");
  });
  test("is not restarted", () => {
    const { table, instance } = third(doomed("c"));
    assert.ok(instance.pod);
    assert.equal(words(changeImage(table, instance, instance.pod, { version: "3.6.17", image: "i" })), "refused");
  });
});

describe("a member that is removed", () => {
  const removal = (member: SampleMember): ActionOf<"removeMember"> => {
    const { table, instance } = third(member);
    const [action] = removeGone(table, instance, "a test") ?? [];
    assert.ok(action?.do === "removeMember");
    return action;
  };
  test("was lost, came back without its data, was leaving, or is not wanted", () => {
    const causes = [gone("c"), voter("c", { wiped: true }), voter("c", { pod: going }), voter("c")].map(
      (member) => removal(member).cause,
    );
    assert.deepEqual(causes, ["lost", "wiped", "lost", "unwanted"]);
  });
  test("is the one whose pod was seen, or was seen to have none", () => {
    assert.deepEqual(removal(gone("c")).pod, { t: "none" });
    assert.deepEqual(removal(voter("c")).pod, { t: "uid", uid: "uid-of-demo-c" });
  });
  test("loses its pod, too, by force where no kubelet would stop it, and not twice", () => {
    const gives = (member: SampleMember): string => {
      const { table, instance } = third(member);
      return words(removeGone(table, instance, "a test"));
    };
    assert.equal(gives(voter("c")), "remove c, delete c");
    assert.equal(gives(gone("c")), "remove c");
    assert.equal(gives(voter("c", { pod: going })), "remove c");
    assert.equal(gives(voter("c", { pod: { ...going, ...onSilentNode(60_000) } })), "remove c, delete c by force");
  });
  test("and learns needs no quorum of the others", () => {
    const { table, instance } = third(learner("c"), {
      members: [voter("a"), voter("b", { silent: true }), learner("c")],
    });
    assert.equal(words(removeGone(table, instance, "a test")), "remove c, delete c");
  });
  test("while it serves takes its pod along", () => {
    const { table, instance } = third(voter("c"));
    assert.equal(words(removeHealthy(table, instance, "a test")), "remove c, delete c");
  });
});

describe("the image of a member", () => {
  const to = { version: "3.6.17", image: "etcd:v3.6.17" };
  const change = (member: SampleMember, more: SampleWorld = {}) => {
    const { table, instance } = third(member, more);
    assert.ok(instance.pod);
    return changeImage(table, instance, instance.pod, to);
  };
  const rows: [string, readonly ClusterAction[] | undefined, string][] = [
    [
      "is changed when all serve, after comparing them",
      change(voter("c")),
      "change c from 3.6.16 to 3.6.17 after comparing",
    ],
    [
      "is changed without comparing when another has it",
      change(voter("c"), { members: [voter("a", { pod: to }), voter("b"), voter("c")] }),
      "change c from 3.6.16 to 3.6.17",
    ],
    [
      "is changed after comparing when another has only the same version",
      change(voter("c"), { members: [voter("a", { pod: { ...to, image: "another" } }), voter("b"), voter("c")] }),
      "change c from 3.6.16 to 3.6.17 after comparing",
    ],
    [
      "is not changed while another voter is away",
      change(voter("c"), { members: [voter("a"), voter("b", { silent: true }), voter("c")] }),
      "refused",
    ],
    [
      "is changed while a learner is on its way",
      change(voter("c"), { members: [voter("a"), voter("b"), voter("c"), learner("d")] }),
      "change c from 3.6.16 to 3.6.17 after comparing",
    ],
    [
      "is changed when it is down, whoever else is",
      change(voter("c", { silent: true }), {
        members: [voter("a"), voter("b", { silent: true }), voter("c", { silent: true })],
      }),
      "change c from 3.6.16 to 3.6.17",
    ],
  ];
  for (const [what, is, wanted] of rows) test(what, () => assert.equal(words(is), wanted));

  test("is remembered as it was when it last served, with how often it had been restarted by now", () => {
    const from = (differs: Partial<MemberPod>): unknown => {
      const [action] = change(voter("c", { silent: true, pod: differs })) ?? [];
      return action?.do === "changeImage" ? action.from : undefined;
    };
    const image = "quay.io/coreos/etcd:v3.6.16";
    const changedFrom = { version: "3.6.15", image: "i", restarts: 2 };
    assert.deepEqual(from({ state: { t: "running", restarts: 4 } }), { version: "3.6.16", image, restarts: 4 });
    // Its first start will be in the new image, and count as no restart.
    assert.deepEqual(from(starting), { version: "3.6.16", image, restarts: -1 });
    assert.deepEqual(from({ changedFrom, ...crashing(1000) }), { ...changedFrom, restarts: 5, ran: image });
    assert.deepEqual(from({ rewritten: "mirror/etcd" }), { version: "3.6.16", image, restarts: 0, ran: "mirror/etcd" });
  });

  test("is changed without a quorum only where it was changed before, or does not start", () => {
    const changedFrom = { version: "3.6.15", image: "i", restarts: 0 };
    assert.equal(words(changeBrokenImage(samplePod("demo-a", { changedFrom }), to)), "change a from 3.6.15 to 3.6.17");
    assert.equal(words(changeBrokenImage(samplePod("demo-a", {}), to)), "");
    assert.equal(words(changeBrokenImage(samplePod("demo-a", starting), to)), "change a from 3.6.16 to 3.6.17");
  });
});

test("a pod that belongs to no member is deleted, unless it answers or its member is listed", () => {
  const orphan = (sample: SampleWorld): string =>
    words(deleteOrphan(assessed({ members: three, ...sample }), samplePod("demo-z", {})));
  assert.equal(orphan({}), "delete z");
  assert.equal(orphan({ members: [...three, voter("z")] }), "");
  assert.equal(orphan({ answering: ["z"] }), "");
  assert.equal(orphan({ strangers: ["z"] }), "");
  assert.equal(orphan({ etcd: "silent" }), "delete z");
});

test("only the pod of a learner that never ran is made again under its name", () => {
  const remade = (member: SampleMember): string => {
    const { table, instance } = third(member);
    return words(deleteUnstarted(table, instance, "a test"));
  };
  assert.equal(remade(added("c")), "delete c");
  assert.equal(remade(added("c", { pod: undefined })), "");
  assert.equal(remade(voter("c", { unnamed: true })), "");
  assert.equal(remade(learner("c")), "");
  const onVolume = (claim: NonNullable<SampleMember["claim"]>): string =>
    remade(added("c", { pod: { hasVolume: true, madeFrom: "{}" }, claim }));
  assert.equal(onVolume({ fresh: true }), "delete c, delete claim c", "it must not have a volume");
  assert.equal(onVolume({ fresh: true, terminating: true }), "delete c");
  assert.equal(onVolume({}), "delete c", "it holds data");
});

test("a seed that never served is deleted, if it is the only pod and nobody knows of data", () => {
  const deleted = (sample: SampleWorld) =>
    deleteFailedSeed(assessed({ etcd: "silent", unrecorded: true, ...sample }), "a test");
  const [deletion] = deleted({ members: [voter("a")] });
  assert.partialDeepStrictEqual(deletion, { do: "deletePod", member: "demo-a", unless: "served" });
  assert.deepEqual(deleted({ members: [] }), []);
  assert.deepEqual(deleted({ members: [voter("a"), voter("b")] }), []);
  assert.deepEqual(deleted({ members: [voter("a", { pod: { readyOnce: true } })] }), []);
  assert.equal(words(deleted({ members: [voter("a", { claim: { fresh: true } })] })), "delete a");
  const unused = { claim: { fresh: true } as const, pod: { ...ended, hasVolume: true, madeFrom: "{}" } };
  assert.equal(words(deleted({ members: [voter("a", unused)] })), "delete a, delete claim a");
  const served = { ...unused, pod: { ...unused.pod, readyOnce: true } as const };
  assert.equal(words(deleted({ members: [voter("a", served)] })), "delete a");
  assert.deepEqual(deleted({ members: [voter("a", { claim: {} })] }), []);
  assert.deepEqual(deleteFailedSeed(assessed({ etcd: "silent", members: [voter("a")] }), "a test"), []);
});

test("the pod of a second voter is deleted only while it does not run", () => {
  const deleted = (differs: Partial<MemberPod>): string =>
    words(deleteSecondVoterPod(assessed({ members: three }), samplePod("demo-b", differs), "a test"));
  assert.equal(deleted(ended), "delete b");
  assert.equal(deleted(starting), "delete b");
  assert.equal(deleted({}), "");
});
