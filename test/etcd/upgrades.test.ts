// Changes of the version on real servers, while clients write: upgrades, downgrades, and the raft log that 3.7 cannot read.
// What the operator takes for granted there is tried here.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { EtcdVersion as Built } from "../../lab/build/etcd.ts";
import type { MemberStatus } from "../../src/etcd/member.ts";
import { comesTrue } from "../../src/etcd/testing/world.ts";
import { firstDowngradable, stepBetween } from "../../src/etcd/versions/steps.ts";
import { isAtLeast, minorOf, version } from "../../src/etcd/versions/version.ts";
import { type Row, rowsOf } from "../support/matrix.ts";
import { RealEtcd } from "./real-etcd.ts";
import { Writer } from "./writer.ts";

const namesOf = (size: number): string[] => Array.from({ length: size }, (_, n) => `m${n}`);
const storageOf = (built: Built): string => `${minorOf(version(built))}.0`;

const unreadable = /unmarshal should never fail/;

const downward: readonly (Row & { readonly from: Built; readonly to: Built })[] = [
  { from: "3.7.3", to: "3.6.16" },
  { from: "3.6.16", to: "3.5.35" },
  { from: "3.6.16", to: "3.5.21", onlyInMatrix: true },
];

// They mostly wait. The timeout is that of all of them together.
describe("a change of the version", { concurrency: 3, timeout: 1_800_000 }, () => {
  startsThatAreRefused();
  logsThatCannotBeRead();
  membersThatAreTakenForRemoved();
  freshLogs();
  downgrades();
  cancelledDowngrades();
});

function startsThatAreRefused(): void {
  const rows: readonly (readonly [from: Built, to: Built, words: RegExp])[] = [
    ["3.7.3", "3.6.16", /version \\"3\.7\.0\\" is not supported/],
    ["3.6.16", "3.5.35", /invalid downgrade; server version is lower than determined cluster version/],
    ["3.5.35", "3.4.23", /is lower than determined cluster version/],
  ];
  for (const [from, to, words] of rows)
    test(`from ${from} to ${to} without a downgrade ends the process, and the way back is open`, async () => {
      await using etcd = await RealEtcd.startCluster(from, 1);
      await etcd.member("m0").put("key", "1");
      if (isAtLeast(version(from), firstDowngradable)) await storageIs(etcd, ["m0"], storageOf(from));
      await etcd.stop("m0");
      await ends(etcd, "m0", to, words);
      await etcd.change("m0", from);
      assert.ok(await etcd.member("m0").get("key"));
    });
}

/** A cluster that came from 3.5 and has written fewer entries than make a snapshot. */
async function youngCluster(size: number, from: Built = "3.5.35"): Promise<RealEtcd> {
  const etcd = await RealEtcd.startCluster(from, size);
  const names = namesOf(size);
  await etcd.member("m0").put("before", "1");
  if (from !== "3.5.35") await roll(etcd, names, "3.5.35");
  await roll(etcd, names, "3.6.16");
  await storageIs(etcd, names, "3.6.0");
  return etcd;
}

function logsThatCannotBeRead(): void {
  test("from 3.6 to 3.7 ends the process while its log has entries of 3.5, and the way back is open", async () => {
    await using etcd = await youngCluster(1);
    await etcd.member("m0").put("key", "1");
    await etcd.stop("m0");
    await ends(etcd, "m0", "3.7.3", unreadable);
    await etcd.change("m0", "3.6.16");
    assert.ok(await etcd.member("m0").get("key"));
  });

  // Only after about a hundred entries a new member gets a snapshot instead of the log. So a new member for each old one
  // does not make a young cluster ready for 3.7.
  test("to 3.7 by a new member ends it too while it gets the whole log", async () => {
    await using etcd = await youngCluster(1);
    const oldestServer = version("3.6.16");
    await etcd.member("m0").memberAdd({ as: "learner", peerUrls: [etcd.peerUrl("m1")], oldestServer });
    await etcd.launch("m1", "3.7.3");
    await hasEnded(etcd, "m1", unreadable);
    assert.deepEqual(await etcd.member("m0").health(), { t: "healthy" });
  });
}

// A server of 3.4 has the members in its database before the database says how far in the log it is. It says that with the
// next write. Until then 3.5.35 applies the joining of each member once more, finds those that joined after it in the
// database already, and writes down that they were removed. Only 3.6 reads that.
function membersThatAreTakenForRemoved(): void {
  test("from 3.4 by 3.5 to 3.6 ends the others when no key was ever written, and the way back is open", async () => {
    await using etcd = await RealEtcd.startCluster("3.4.23", 3);
    await roll(etcd, namesOf(3), "3.5.35");
    await etcd.stop("m0");
    await etcd.startAs("m0", "3.6.16");
    const [removed = "m1"] = await anyOf(["m1", "m2"], async (name) => etcd.hasEnded(name));
    assert.match(etcd.logOf(removed), /the member has been permanently removed from the cluster/);
    await etcd.kill("m0");
    await serveOrAreStartedAgain(etcd, ["m1", "m2"], "3.5.35");
  });
}

/** A server that learns of its removal takes a while to end, so it may still do that after the one that sent it is gone. */
async function serveOrAreStartedAgain(etcd: RealEtcd, names: readonly string[], built: Built): Promise<void> {
  await comesTrue(
    etcd,
    `${names.join(" and ")} are healthy`,
    async () => {
      for (const name of names) if (etcd.hasEnded(name)) await etcd.startAs(name, built);
      return Promise.all(names.map((name) => etcd.member(name).health()));
    },
    (healths) => healths.every(({ t }) => t === "healthy"),
  );
}

/**
 * On 3.6: `downgrade enable 3.5`, until every storage is of 3.5, `downgrade cancel`, until every storage is of 3.6 again.
 *
 * Not the storage of 3.5 but that of 3.6 after it proves that a member has written its snapshot. Both begin when the member
 * applies the lower cluster version, and the storage is often first: by milliseconds, and by 6 s where `fsync` took that
 * long. The member applies nothing else before the snapshot is on disk, so the higher cluster version comes after it. A
 * member that is killed in between applies the lower cluster version again when it starts.
 */
async function freshenLogs(etcd: RealEtcd, names: readonly string[]): Promise<void> {
  const m0 = etcd.member("m0");
  await m0.downgrade({ do: "enable", version: "3.5" });
  await storageIs(etcd, names, "3.5.0");
  await m0.downgrade({ do: "cancel" });
  await storageIs(etcd, names, "3.6.0");
}

function freshLogs(): void {
  const rows: readonly (Row & { readonly size: number; readonly from: Built })[] = [
    { size: 3, from: "3.5.35" },
    { size: 5, from: "3.5.35", onlyInMatrix: true },
    { size: 3, from: "3.4.23", onlyInMatrix: true },
  ];
  for (const { size, from } of rowsOf(rows))
    test(`from ${from} by 3.6 to 3.7 works for ${size} members, with a fresh log`, async () => {
      const names = namesOf(size);
      await using etcd = await youngCluster(size, from);
      await using writer = new Writer(etcd, names);
      const before = await Promise.all(names.map((name) => snapshotsOf(etcd, name)));
      await freshenLogs(etcd, names);
      for (const [at, name] of names.entries())
        assert.ok((await snapshotsOf(etcd, name)) > (before[at] ?? 0), `${name} has written no snapshot`);
      await roll(etcd, names, "3.7.3");
      await storageIs(etcd, names, "3.7.0");
      await writer.expectAll();
    });

  // Who has its snapshot by then is a matter of luck.
  for (const { round } of rowsOf([1, 2, 3].map((n) => ({ round: n, onlyInMatrix: true }))))
    test(`to 3.7 works when all members are killed while they write their snapshots, round ${round}`, async () => {
      const names = namesOf(3);
      await using etcd = await youngCluster(3);
      await etcd.member("m0").downgrade({ do: "enable", version: "3.5" });
      // Once two are gone the third may never hear of the lower version.
      const isLower = async (name: string): Promise<boolean> =>
        (await etcd.member(name).status({ deadline: 500 })).storageVersion === "3.5.0";
      const [first = "m0", ...others] = await anyOf(names, isLower);
      await etcd.kill(first);
      await anyOf(others, isLower);
      await Promise.all(others.map((name) => etcd.kill(name)));
      await Promise.all(names.map((name) => etcd.revive(name)));
      await storageIs(etcd, names, "3.5.0");
      await etcd.member("m0").downgrade({ do: "cancel" });
      await storageIs(etcd, names, "3.6.0");
      await roll(etcd, names, "3.7.3");
    });
}

/** Allows the lower version and waits until it can be started. */
async function enableDowngrade(etcd: RealEtcd, names: readonly string[], to: Built): Promise<void> {
  await etcd.member("m1").downgrade({ do: "enable", version: minorOf(version(to)) });
  await storageIs(etcd, names, storageOf(to));
}

function downgrades(): void {
  const names = namesOf(3);
  for (const { from, to } of rowsOf(downward))
    test(`from ${from} down to ${to} works, and etcd ends the downgrade by itself`, async () => {
      assert.equal(stepBetween(version(from), version(to)).t, "downgrade");
      await using etcd = await RealEtcd.startCluster(from, 3);
      await using writer = new Writer(etcd, names);
      await storageIs(etcd, names, storageOf(from));
      await enableDowngrade(etcd, names, to);
      for (const name of names) assert.equal((await etcd.member(name).status()).downgrade, storageOf(to));
      await roll(etcd, names, to);
      // The leader checks every 5 s whether all members run the lower version.
      await comesTrue(
        etcd,
        "the downgrade has ended",
        async () => names.map((name) => etcd.logOf(name)),
        (logs) => logs.some((log) => log.includes("the cluster has been downgraded")),
      );
      await comesTrue(
        etcd,
        "no downgrade is enabled",
        () => Promise.all(names.map((name) => etcd.member(name).status())),
        (statuses) => statuses.every(({ downgrade }) => downgrade === undefined),
      );
      await writer.expectAll();
    });
}

function cancelledDowngrades(): void {
  const names = namesOf(3);
  for (const { from, to } of rowsOf(downward.map((step, at) => ({ ...step, onlyInMatrix: at > 0 }))))
    test(`from ${from} down to ${to} can be cancelled halfway: the rest may still go down, and all may go up again`, async () => {
      await using etcd = await RealEtcd.startCluster(from, 3);
      await storageIs(etcd, names, storageOf(from));
      await enableDowngrade(etcd, names, to);
      await etcd.change("m2", to);
      await etcd.member("m0").downgrade({ do: "cancel" });
      // A leader checks versions every 4 s. It leaves the cluster version where the oldest member is.
      await delay(5000);
      for (const name of ["m0", "m1"]) {
        const { storageVersion, downgrade } = await etcd.member(name).status();
        assert.deepEqual([storageVersion, downgrade], [storageOf(to), undefined]);
      }
      await etcd.change("m1", to);
      await roll(etcd, ["m1", "m2"], from);
      await storageIs(etcd, names, storageOf(from));
    });
}

// Steps of the tests

/** One after another, the leader last, the next only when the one before is healthy. */
async function roll(etcd: RealEtcd, names: readonly string[], to: Built): Promise<void> {
  const statuses = await Promise.all(names.map(async (name) => ({ name, status: await etcd.member(name).status() })));
  const isLeader = ({ status }: { readonly status: MemberStatus }): boolean => status.leader === status.memberId;
  for (const { name } of statuses.toSorted((a, b) => Number(isLeader(a)) - Number(isLeader(b)))) {
    await etcd.change(name, to);
    await isHealthy(etcd, name);
    assert.equal((await etcd.member(name).status()).version, to);
  }
}

async function isHealthy(etcd: RealEtcd, name: string): Promise<void> {
  await comesTrue(
    etcd,
    `${name} is healthy`,
    () => etcd.member(name).health(),
    ({ t }) => t === "healthy",
  );
}

async function storageIs(etcd: RealEtcd, names: readonly string[], wanted: string): Promise<void> {
  await comesTrue(
    etcd,
    `every storage is of ${wanted}`,
    () => Promise.all(names.map((name) => etcd.member(name).status())),
    (statuses) => statuses.every(({ storageVersion }) => storageVersion === wanted),
  );
}

/** All of them, the one of which it was true first in front. */
async function anyOf(names: readonly string[], isTrue: (name: string) => Promise<boolean>): Promise<readonly string[]> {
  const deadline = performance.now() + 180_000;
  while (performance.now() < deadline) {
    const seen = await Promise.all(names.map(isTrue));
    const at = seen.indexOf(true);
    if (at >= 0) return names.toSorted((a, b) => Number(b === names[at]) - Number(a === names[at]));
    await delay(2);
  }
  return assert.fail(`it came true of none of ${names.join(", ")}`);
}

async function ends(etcd: RealEtcd, name: string, built: Built, words: RegExp): Promise<void> {
  await etcd.startAs(name, built);
  await hasEnded(etcd, name, words);
}

async function hasEnded(etcd: RealEtcd, name: string, words: RegExp): Promise<void> {
  await comesTrue(
    etcd,
    `${name} has ended`,
    async () => etcd.hasEnded(name),
    (ended) => ended,
  );
  assert.ok(words.test(etcd.logOf(name)), etcd.log);
}

/** How many raft snapshots its process has written to disk. */
async function snapshotsOf(etcd: RealEtcd, name: string): Promise<number> {
  const metrics = await (
    await fetch(`${etcd.metricsUrl(name)}/metrics`, { signal: AbortSignal.timeout(10_000) })
  ).text();
  const count = /^etcd_debugging_snap_save_total_duration_seconds_count (\d+)$/m.exec(metrics)?.[1];
  return Number(count ?? assert.fail(`${name} has no such metric`));
}
