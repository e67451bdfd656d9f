// What is decided in a given world, phase by phase.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatRestoreRequest, restoreAnnotation } from "../../api/etcd-cluster/restore-annotation.ts";
import type { CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import type { Worker } from "../../controllers/worker.ts";
import type { Result } from "../../worker/job.ts";
import type { RestoreWorld, Seed } from "../observe/world.ts";
import {
  aBackup,
  aCluster,
  aRestore,
  checked,
  clusterUid,
  facts,
  failure,
  lastTransitionTime,
  restoreUid,
} from "../testing/samples.ts";
import { planRestore } from "./plan.ts";
import { specDigest } from "../objects/seed.ts";

const now = Date.parse("2026-02-01T00:00:00Z");

const aWorker = (result: Result): Worker => ({
  name: "p",
  uid: "p",
  createdAt: 0,
  generation: 0,
  job: undefined,
  state: { t: "ended", result, left: "nothing" },
});

function aWorld(
  status: EtcdRestore["status"],
  more: Partial<RestoreWorld> = {},
  spec: Partial<EtcdRestore["spec"]> = {},
): RestoreWorld {
  return {
    restore: aRestore({ spec, status: { observedGeneration: 1, inPlace: true, clusterUid, ...status } }),
    problems: [],
    clusterSpec: undefined,
    backup: { t: "none" },
    cluster: aCluster(),
    rival: undefined,
    volumes: { kept: [], holdAll: false },
    worker: undefined,
    savingEarly: undefined,
    seeds: [],
    requested: undefined,
    spent: [],
    image: "operator",
    ...more,
  };
}

const decided = (world: RestoreWorld) => planRestore(world, now).decision;

const backup = { path: "bucket/etcd/backup", revision: 42, hash: 7, sha256: "5ha" };
const proved = { key: "etcd/backup", backup, revisionBump: 1000 };

const following = (phase: "Stopping" | "Seeding" | "Done", status: EtcdCluster["status"] = {}): CompleteEtcdCluster =>
  aCluster({}, { restore: { name: "demo", uid: restoreUid, phase }, ...status });

const isReady = { type: "Ready", status: "True", reason: "AllMembersReady", lastTransitionTime } as const;
const ready = (observedGeneration: number) => [{ ...isReady, observedGeneration }];
const unready = { type: "Ready", status: "False", lastTransitionTime } as const;

describe("Restoring", () => {
  const restoring = { ...proved, phase: "Restoring" as const };

  test("asks the very cluster that was seen, in the version that was seen", () => {
    const decision = decided(aWorld({ ...restoring, snapshotPath: "bucket/before", snapshotRevision: 42 }));
    assert.ok(decision.t === "stay");
    assert.deepEqual(decision.actions, [{ do: "askCluster", name: "demo", uid: clusterUid, resourceVersion: "5" }]);
  });

  test("saves what a cluster that serves holds first, where volumes that were relied on are gone by now", () => {
    const relied = { ...restoring, keptVolumes: "demo-a, demo-b, demo-c" };
    assert.partialDeepStrictEqual(decided(aWorld(relied)), { t: "go", to: "Saving" });
    const volumes = { kept: ["demo-a"], holdAll: true };
    const record = { keptVolumes: "demo-a" };
    assert.partialDeepStrictEqual(decided(aWorld(relied, { volumes })), { t: "go", to: "Restoring", record });
  });

  test("asks once", () => {
    const cluster = aCluster();
    const annotations = {
      [restoreAnnotation]: formatRestoreRequest({ name: "demo", uid: restoreUid, cluster: clusterUid }),
    };
    const asked = { ...cluster, metadata: { ...cluster.metadata, annotations } };
    for (const world of [
      aWorld(restoring, { cluster: asked }),
      aWorld(restoring, { cluster: following("Stopping") }),
    ]) {
      const decision = decided(world);
      assert.ok(decision.t === "stay" && decision.actions.length === 0);
    }
  });

  test("never asks again once the cluster has taken it up: somebody else has replaced the data since", () => {
    for (const restore of [undefined, { name: "other", uid: "other", phase: "Done" as const }]) {
      const cluster = aCluster({}, restore && { restore });
      const decision = decided(aWorld({ ...restoring, clusterPhase: "Done" }, { cluster }));
      assert.ok(decision.t === "fail");
      assert.match(decision.because, /has replaced the data of the EtcdCluster demo since/);
    }
  });

  const done = { revision: 1042, conditions: ready(1), ready: "3/3", clusterId: "new" };

  test("succeeds when the cluster is ready with the revision that the backup gives it", () => {
    const decision = decided(aWorld(restoring, { cluster: following("Done", done) }));
    assert.ok(decision.t === "succeed");
    assert.deepEqual(decision.record, { clusterPhase: "Done", clusterUid, clusterId: "new" });
  });

  for (const [name, phase, status] of [
    ["while its first member is made", "Seeding", done],
    ["while it is not ready", "Done", { ...done, conditions: [{ ...unready, reason: "Scaling" }] }],
    ["while only an older form of it is known to be ready", "Done", { ...done, conditions: ready(0) }],
    ["while its revision is lower than the backup's", "Done", { ...done, revision: 1041 }],
    ["while its revision is not known", "Done", { conditions: ready(1) }],
  ] as const)
    test(`does not succeed ${name}`, () => {
      const conditions = status.conditions.map((condition) => ({ ...condition }));
      const decision = decided(aWorld(restoring, { cluster: following(phase, { ...status, conditions }) }));
      assert.equal(decision.t, "stay");
    });

  test("records what the seed says as soon as it is seen", () => {
    const world = aWorld(restoring, {
      cluster: following("Seeding"),
      seeds: [{ t: "made", member: "demo-x", backup: facts }],
    });
    const decision = decided(world);
    assert.ok(decision.t === "stay");
    assert.deepEqual(decision.record?.seed, { member: "demo-x", revision: 42, hash: 7 });
  });

  test("takes a seed for what it is by the content of the object, and by a revision only where that was counted", () => {
    const outcome = (seen: Partial<typeof facts>): string => {
      const seed = { t: "made", member: "demo-x", backup: { ...facts, ...seen } } as const;
      return decided(aWorld(restoring, { cluster: following("Seeding"), seeds: [seed] })).t;
    };
    assert.equal(outcome({ revision: 40, exactRevision: false }), "stay");
    assert.equal(outcome({ revision: 40, exactRevision: true }), "fail");
    assert.equal(outcome({ sha256: "other" }), "fail");
    assert.equal(outcome({ hash: { value: 8, revision: 42, compactRevision: 1 } }), "fail");
  });

  test("gives a seed up only for what is definitely wrong, and not the first time", () => {
    const outcome = (code: "damaged" | "dataExists" | "store" | "failed", times: number): string => {
      const seed = { t: "failed", member: "demo-x", code, message: "It ends.", times } as const;
      return decided(aWorld(restoring, { cluster: following("Seeding"), seeds: [seed] })).t;
    };
    assert.deepEqual([outcome("damaged", 2), outcome("damaged", 3)], ["stay", "fail"]);
    assert.equal(outcome("dataExists", 3), "fail");
    assert.deepEqual([outcome("store", 30), outcome("failed", 30)], ["stay", "stay"]);
  });

  test("compares what every first member was made from", () => {
    const seeds = ["a", "b", "c"].map((member) => ({ t: "made", member: `demo-${member}`, backup: facts }) as const);
    const outcome = (last: object): string => {
      const all = [...seeds.slice(0, 2), { ...seeds[2]!, backup: { ...facts, ...last } }];
      const decision = decided(
        aWorld(
          { ...restoring, seed: { member: "demo-a", revision: 42 } },
          { cluster: following("Seeding"), seeds: all },
        ),
      );
      return decision.t === "fail" ? decision.because : decision.t;
    };
    assert.equal(outcome({}), "stay");
    assert.match(outcome({ sha256: "other" }), /The member demo-c was made from another backup/);
  });

  test("gives up when too few first members can be made for a majority", () => {
    const failed = (member: string) =>
      ({ t: "failed", member, code: "damaged", message: "It ends.", times: 3 }) as const;
    const outcome = (...seeds: readonly Seed[]): string =>
      decided(aWorld(restoring, { cluster: following("Seeding"), seeds })).t;
    const [a, b] = ["demo-a", "demo-b"].map((member) => ({ t: "made", member, backup: facts }) as const);
    assert.equal(outcome(a!, b!, failed("demo-c")), "stay");
    assert.equal(outcome(a!, failed("demo-b"), failed("demo-c")), "fail");
    assert.equal(outcome(failed("demo-a")), "fail");
  });

  test("names the members that are being made, and then those that start", () => {
    const said = (...seeds: readonly Seed[]): string | undefined =>
      decided(aWorld(restoring, { cluster: following("Seeding"), seeds })).because;
    const [a, b] = ["demo-a", "demo-b"].map((member) => ({ t: "made", member, backup: facts }) as const);
    const c = { t: "starting", member: "demo-c" } as const;
    assert.match(said() ?? "", /^The first members are being made from the backup/);
    assert.match(
      said({ ...c, member: "demo-b" }, c) ?? "",
      /^The members demo-b, demo-c are being made from the backup/,
    );
    assert.match(said(a!, b!, c) ?? "", /^The member demo-c is being made from the backup/);
    assert.match(said(a!, b!) ?? "", /^The members demo-a, demo-b were made from the backup .*, and start\./);
  });

  test("says where the old data is when it fails", () => {
    const seed = { t: "failed", member: "demo-x", code: "damaged", message: "It ends.", times: 3 } as const;
    const because = (left: object): string => {
      const decision = decided(aWorld({ ...restoring, ...left }, { cluster: following("Seeding"), seeds: [seed] }));
      assert.ok(decision.t === "fail");
      return decision.because;
    };
    assert.match(
      because({ keptVolumes: "demo-a, demo-b" }),
      /What the cluster held is in the claims demo-a, demo-b\.$/,
    );
    assert.match(because({ snapshotPath: "bucket/x" }), /What the cluster held is saved in bucket\/x\.$/);
  });

  test("passes on what the cluster says that a person has to mend", () => {
    const said = (reason: string) => {
      const conditions = [{ ...unready, reason, message: "A Secret is missing." }];
      const decision = decided(aWorld(restoring, { cluster: following("Seeding", { conditions }) }));
      assert.ok(decision.t === "stay");
      return decision.because;
    };
    assert.equal(
      said("MemberCannotStart"),
      "The first members are being made from the backup bucket/etcd/backup. The cluster says: A Secret is missing.",
    );
    for (const passes of ["Restoring", "MembersUnhealthy", "OfTomorrow"])
      assert.equal(said(passes), "The first members are being made from the backup bucket/etcd/backup.", passes);
    for (const endsWithIt of ["DataLost", "NoSpace"])
      assert.equal(
        said(endsWithIt),
        "The first members are being made from the backup bucket/etcd/backup.",
        endsWithIt,
      );
    for (const asks of ["MembersApart", "VolumesForeign", "AuthRequired"])
      assert.match(said(asks), / The cluster says: A Secret is missing\.$/, asks);
  });

  test("counts the members that serve, once the first one does", () => {
    const decision = decided(aWorld(restoring, { cluster: following("Done", { ready: "2/3" }) }));
    assert.ok(decision.t === "stay");
    assert.equal(decision.because, "2 of 3 members serve.");
  });

  test("does not count more members than are wanted while one is replaced, and says what the cluster waits for", () => {
    const message = "1 of 3 members is replaced.";
    const conditions = [{ ...unready, reason: "Updating", message }];
    const decision = decided(aWorld(restoring, { cluster: following("Done", { ready: "4/3", conditions }) }));
    assert.ok(decision.t === "stay");
    assert.equal(decision.because, `All 3 members serve, but the cluster is not Ready yet: ${message}`);
  });
});

describe("a backup that was proved a while ago", () => {
  const at = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString();
  const waited = { ...proved, phase: "Restoring", snapshotPath: "bucket/before", snapshotRevision: 42 } as const;

  test("is proved again before the cluster is asked: others may have pruned or replaced it", () => {
    assert.partialDeepStrictEqual(decided(aWorld({ ...waited, checkedAt: at(61) })), { t: "go", to: "Checking" });
    assert.partialDeepStrictEqual(decided(aWorld({ ...waited, checkedAt: at(59) })), { t: "stay" });
  });

  test("is left alone once the cluster follows, or makes a new cluster", () => {
    const old = { ...waited, checkedAt: at(600) };
    assert.equal(decided(aWorld(old, { cluster: following("Stopping") })).t, "stay");
    const fresh = { ...old, inPlace: false, clusterUid: undefined };
    assert.equal(decided(aWorld(fresh as never, { cluster: undefined, clusterSpec: { size: 3 } })).t, "stay");
  });

  test("is not followed by another try to save what nobody could save", () => {
    const cluster = aCluster({}, { members: { ready: ["demo-a"], unready: [] } });
    const again = { ...proved, phase: "Checking", snapshotProblem: "etcd did not answer" } as const;
    const silent = { ...cluster, status: { ...cluster.status, conditions: [] } };
    assert.partialDeepStrictEqual(decided(aWorld(again, { cluster: silent })), { t: "go", to: "Restoring" });
  });
});

describe("what the cluster holds, while the backup is being checked,", () => {
  const checking = { phase: "Checking" as const, attempt: 1 };
  const names = (world: RestoreWorld): readonly string[] =>
    planRestore(world, now).upkeep.map((action) =>
      action.do === "createWorker"
        ? (action.pod.metadata?.name ?? "")
        : `${action.do} ${"name" in action ? action.name : ""}`,
    );
  const pod = { name: "demo-save-1-u", uid: "p" };
  const held = aCluster({ paused: true });

  test("is saved already", () => {
    const [name, ...more] = names(aWorld(checking));
    assert.match(name ?? "", /^demo-save-1-/);
    assert.deepEqual(more, []);
  });

  for (const [why, world] of [
    ["when that is under way", aWorld(checking, { savingEarly: pod })],
    ["where nobody wants it", aWorld(checking, {}, { safetySnapshot: "Skip" })],
    ["where every member has a volume", aWorld(checking, { volumes: { kept: ["demo-a"], holdAll: true } })],
    ["where no member serves", aWorld(checking, { cluster: aCluster({}, { conditions: [] }) })],
    ["at the second attempt to check", aWorld({ ...checking, attempt: 2 })],
    ["when the backup is proved once more", aWorld({ ...checking, checkedAt: "2026-02-01T00:00:00Z" })],
    ["when the cluster is held up", aWorld(checking, { cluster: held })],
    ["into a new cluster", aWorld({ ...checking, inPlace: false }, { cluster: undefined })],
  ] as const)
    test(`is not saved ${why}`, () => assert.deepEqual(names(world), []));

  test("is not kept for a restore that is held up: it will be old by then", () =>
    assert.deepEqual(names(aWorld(checking, { savingEarly: pod, cluster: held })), [`deleteWorker ${pod.name}`]));

  test("is saved again where the check took much longer", () => {
    const outcome = (snapshotAt: string): string => {
      const did = { do: "backup", backup: { ...facts, snapshotAt }, durationMs: 1, deleted: 0, count: 1 } as const;
      const status = { ...proved, phase: "Saving" as const, attempt: 1, checkedAt: "2026-02-01T00:00:00Z" };
      return decided(aWorld(status, { worker: aWorker({ ok: true, did }) })).t;
    };
    assert.equal(outcome("2026-01-31T23:58:00Z"), "retry");
    assert.equal(outcome("2026-01-31T23:59:30Z"), "go");
  });
});

describe("Saving", () => {
  const saving = { ...proved, phase: "Saving" as const };
  const lastAttempt = { ...saving, attempt: 5 };
  const silent = aCluster({}, { conditions: [{ ...unready, type: "Available", reason: "QuorumLost" }] });
  const ended = (code: Parameters<typeof failure>[0]) => ({ worker: aWorker(failure(code)) });

  for (const [code, cluster, wanted] of [
    ["etcd", silent, "go"],
    ["stalled", silent, "go"],
    ["etcd", aCluster(), "fail"],
    ["stalled", aCluster(), "fail"],
    ["store", silent, "fail"],
    ["failed", silent, "fail"],
  ] as const) {
    const state = cluster === silent ? "a cluster that does not answer" : "a cluster that serves";
    test(`of ${state}, after five attempts that ended with ${code}: ${wanted === "go" ? "goes on" : "ends"}`, () => {
      assert.equal(decided(aWorld(lastAttempt, { cluster, ...ended(code) })).t, wanted);
      assert.equal(decided(aWorld(saving, { cluster, ...ended(code) })).t, "retry");
    });
  }

  test("ends at once with what is definitely wrong", () => {
    assert.equal(decided(aWorld(saving, ended("wrongKey"))).t, "fail");
  });

  test("waits for an EtcdBackup that was deleted meanwhile: nobody else knows the store", () => {
    const decision = decided(
      aWorld(saving, { backup: { t: "missing", name: "nightly" } }, { backup: { name: "nightly" } }),
    );
    assert.ok(decision.t === "stay" && decision.actions.length === 0);
  });
});

describe("Checking", () => {
  const checking = { phase: "Checking" as const };

  test("makes no worker before its time", () => {
    const decision = decided(aWorld({ ...checking, attempt: 2, notBefore: "2026-02-01T00:00:07Z" }));
    assert.ok(decision.t === "stay" && decision.actions.length === 0);
    assert.equal(decision.requeueAfter, 7_000);
    const later = decided(aWorld({ ...checking, attempt: 2, notBefore: "2026-02-01T00:00:00Z" }));
    const [action] = later.actions;
    assert.ok(later.t === "stay" && action?.do === "createWorker");
    assert.equal(action.pod.metadata?.name, "demo-check-2-11112222");
  });

  test("runs its worker as the ServiceAccount of the EtcdBackup, unless the EtcdRestore names one", () => {
    const named = { t: "there", backup: aBackup({ worker: { serviceAccountName: "reader" } }), problems: [] } as const;
    const account = (worker: object): string | undefined => {
      const decision = decided(aWorld(checking, { backup: named }, { backup: { name: "nightly" }, worker }));
      const [action] = decision.actions;
      assert.ok(decision.t === "stay" && action?.do === "createWorker");
      return action.pod.spec?.serviceAccountName;
    };
    assert.deepEqual([account({}), account({ serviceAccountName: "own" })], ["reader", "own"]);
  });

  test("says that the operator may not read the EtcdBackup", () => {
    const decision = decided(aWorld(checking, { backup: { t: "forbidden", name: "nightly" } }));
    assert.ok(decision.t === "stay");
    assert.match(
      decision.because,
      /^The operator may not read the EtcdBackup nightly: grant it the permissions on etcdbackups/,
    );
  });

  for (const by of ["silent", "reported"] as const)
    test(`reports what keeps its worker from its start ${by === "silent" ? "after half a minute" : "at once"}`, () => {
      const told = (ageMs: number): string => {
        const state = { t: "waiting", stuck: { by, because: "It waits." } } as const;
        return decided(aWorld(checking, { worker: { ...aWorker(checked), createdAt: now - ageMs, state } })).because;
      };
      assert.equal(told(20_000) === "It waits.", by === "reported");
      assert.equal(told(60_000), "It waits.");
    });

  test("tries again where its worker is being deleted, which a node that is lost may never end", () => {
    const worker = { ...aWorker(checked), state: { t: "running" }, goneBy: now + 1 } as const;
    assert.equal(decided(aWorld(checking, { worker })).t, "retry");
    assert.equal(decided(aWorld(checking, { worker: aWorker(checked) })).t, "stay");
  });

  test("names a pod that is in the way", () => {
    const decision = decided(aWorld(checking, { worker: "foreign" }));
    assert.ok(decision.t === "stay");
    assert.match(decision.because, /^There is a pod demo-check-1-11112222 that is not this EtcdRestore's: delete it/);
  });

  test("refuses a bump that would repeat revisions, which the highest one that was ever seen tells", () => {
    const cluster = aCluster({}, { revision: 60, highestRevision: 100 });
    const worker = aWorker(checked);
    const bumped = (revisionBump: number) => decided(aWorld(checking, { cluster, worker }, { revisionBump }));
    const refused = bumped(58);
    assert.ok(refused.t === "fail");
    assert.match(
      refused.because,
      /^spec.revisionBump is 58, .* at revision 100: .* set it to at least 59\. Nothing was touched/,
    );
    assert.equal(bumped(59).t, "stay");
  });

  test("records what was proved before anything else is done", () => {
    const decision = decided(aWorld(checking, { worker: aWorker(checked) }));
    assert.ok(decision.t === "stay" && decision.actions.length === 0);
    assert.deepEqual([decision.record?.key, decision.record?.revisionBump], ["etcd/backup", 1_000_000_000]);
  });
});

test("a cluster that is being deleted is neither replaced nor mistaken for a new one", () => {
  const cluster = aCluster();
  const going = { ...cluster, metadata: { ...cluster.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  assert.equal(decided({ ...aWorld({}, { cluster: going }), restore: aRestore() }).t, "stay");
  assert.equal(decided(aWorld({ phase: "Checking" }, { cluster: going })).t, "fail");
});

test("workers that are of no use any more are deleted, in whatever phase", () => {
  const spent = [{ name: "p", uid: "u" }];
  for (const phase of ["Checking", "Restoring", "Succeeded", "Failed"] as const)
    assert.deepEqual(planRestore(aWorld({ phase }, { spent, savingEarly: { name: "s", uid: "v" } }), now).upkeep, [
      { do: "deleteWorker", name: "p", uid: "u", because: "it is of no use any more" },
    ]);
});

describe("an EtcdRestore that has not begun", () => {
  const fresh = (annotations: Record<string, string>): RestoreWorld => {
    const restore = aRestore();
    return { ...aWorld({}), restore: { ...restore, metadata: { ...restore.metadata, annotations } } };
  };
  const begun = "etcd.database.coreos.com/begun-as";

  test("is marked before anything else, and goes on once it is", () => {
    assert.partialDeepStrictEqual(decided(fresh({})), { t: "stay", actions: [{ do: "markBegun" }] });
    assert.partialDeepStrictEqual(decided(fresh({ [begun]: restoreUid })), { t: "go", to: "Checking" });
  });

  test("waits for a person where another object has begun under its name: a tool has brought it back", () => {
    const decision = decided(fresh({ [begun]: "earlier" }));
    assert.ok(decision.t === "stay" && decision.actions.length === 0 && decision.needsAPerson);
    const repeat = "etcd.database.coreos.com/repeat";
    assert.match(decision.because, new RegExp(`annotate --overwrite etcdrestore -n n demo ${repeat}=${restoreUid}$`));
    assert.equal(decided(fresh({ [begun]: "earlier", [repeat]: restoreUid })).t, "go");
    assert.equal(decided(fresh({ [begun]: "earlier", [repeat]: "earlier" })).t, "stay");
  });
});

describe("a backup that the cluster was restored from before", () => {
  const over = (restored: readonly string[], uid = "earlier") =>
    aCluster({}, { restore: { name: "demo", uid, phase: "Done", restored } });
  const checkedAgain = { phase: "Checking", ...proved } as const;

  test("waits for a person, and touches nothing: an EtcdRestore that is brought back has lost its status", () => {
    const decision = decided(aWorld(checkedAgain, { cluster: over(["other", "5ha"]) }));
    assert.ok(decision.t === "stay" && decision.actions.length === 0);
    const command = `kubectl annotate --overwrite etcdrestore -n n demo etcd.database.coreos.com/repeat=${restoreUid}`;
    assert.ok(decision.because.includes(command), decision.because);
  });

  test("is restored again when its own uid is annotated, and not by that of another", () => {
    const annotated = (uid: string): RestoreWorld => {
      const world = aWorld(checkedAgain, { cluster: over(["5ha"]) });
      const annotations = { "etcd.database.coreos.com/repeat": uid };
      return { ...world, restore: { ...world.restore, metadata: { ...world.restore.metadata, annotations } } };
    };
    assert.equal(decided(annotated(restoreUid)).t, "go");
    assert.equal(decided(annotated("earlier")).t, "stay");
  });

  test("waits, too, where the same spec means a newer backup by now", () => {
    const asked = (specs: readonly string[]) =>
      aCluster({}, { restore: { name: "demo", uid: "earlier", phase: "Done", restored: ["other"], specs } });
    const again = aWorld(checkedAgain, {}, { backup: { name: "nightly" } });
    const digest = specDigest(again.restore.spec);
    const decision = decided({ ...again, cluster: asked(["another", digest]) });
    assert.ok(decision.t === "stay" && decision.actions.length === 0);
    assert.match(decision.because, /was replaced by an EtcdRestore with this very spec before\. Nothing was touched/);
    assert.equal(decided({ ...again, cluster: asked(["another"]) }).t, "go");
  });

  test("is tried again by another EtcdRestore where the last one did not bring it to its end", () => {
    const stuck = (restored: readonly string[]) =>
      aCluster({}, { restore: { name: "demo", uid: "earlier", phase: "Seeding", restored } });
    assert.equal(decided(aWorld(checkedAgain, { cluster: stuck(["5ha", "other"]) })).t, "go");
    assert.equal(decided(aWorld(checkedAgain, { cluster: stuck(["other", "5ha"]) })).t, "stay");
  });

  test("is no obstacle for another backup, for the same EtcdRestore, and for a cluster that was never restored", () => {
    assert.equal(decided(aWorld(checkedAgain, { cluster: over(["other"]) })).t, "go");
    assert.equal(decided(aWorld(checkedAgain, { cluster: over(["5ha"], restoreUid) })).t, "go");
    assert.equal(decided(aWorld(checkedAgain)).t, "go");
  });
});

test("what was written after the safety snapshot is said in numbers", () => {
  const done = { revision: 5000, conditions: ready(1) };
  const cluster = (stoppedAtRevision?: number) =>
    aCluster(
      {},
      {
        ...done,
        restore: {
          name: "demo",
          uid: restoreUid,
          phase: "Done",
          ...(stoppedAtRevision !== undefined && { stoppedAtRevision }),
        },
      },
    );
  const said = (saved: object, stoppedAt?: number): string => {
    const decision = decided(aWorld({ phase: "Restoring", ...proved, ...saved }, { cluster: cluster(stoppedAt) }));
    return decision.t === "succeed" ? decision.because : decision.t;
  };
  assert.match(said({ snapshotRevision: 90 }, 100), /At least 10 revisions were written after revision 90/);
  for (const quiet of [said({ snapshotRevision: 90 }, 90), said({ snapshotRevision: 90 }), said({}, 100)])
    assert.doesNotMatch(quiet, /At least/);
});
