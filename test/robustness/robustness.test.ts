// The recorder and the judge on real servers: a run during which a member is killed passes every check, and each check finds
// what it is for in a history that was spoiled by hand.
import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { Login } from "../../src/etcd/login.ts";
import { comesTrue } from "../../src/etcd/testing/world.ts";
import { clientTls, newAuthority } from "../etcd/made-certificates.ts";
import { RealEtcd } from "../etcd/real-etcd.ts";
import { matrixTest } from "../support/matrix.ts";
import { badHistories } from "./bad-histories.ts";
import { checkNames, judge, withStatus } from "./judge.ts";
import { Recorder, type RecorderOptions, robustnessProgram, type Summary } from "./recorder.ts";
import { Recording } from "./recording.ts";

const members = ["m0", "m1", "m2"];
/** Logs are never cut: the judge needs them from their first entry on. */
const flags = ["--max-wals=0"];
const root = new Login("root", "of-root");

let scratch: string;
before(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), "robustness-"));
  await robustnessProgram();
});
after(() => rm(scratch, { recursive: true, force: true }));

const dataOf = (etcd: RealEtcd): string[] => members.map((name) => etcd.dataDir(name));

/** A busy machine is slow to answer, and each write that nobody answered makes judging take longer. */
const requestTimeoutMs = 15_000;

/** Revisions of each part of a run: enough for a history that has something of everything, on however slow a machine. */
const busy = 250;

async function writes(etcd: RealEtcd, login: Login | undefined): Promise<void> {
  const revision = async (): Promise<number> => (await etcd.member("m1", login).status()).revision;
  const goal = (await revision()) + busy;
  await comesTrue(etcd, `there are ${busy} more revisions`, revision, (seen) => seen >= goal);
}

/** Kills a member of the cluster while clients are busy, and starts it again. */
async function recordWhileOneDies(
  etcd: RealEtcd,
  out: string,
  options: Pick<RecorderOptions, "tls"> & { readonly login?: Login } = {},
): Promise<Summary> {
  const endpoints = members.map((name) => etcd.clientUrl(name));
  const limits = { seed: 1, compactEverySeconds: 1, requestTimeoutMs, settleSeconds: 120 };
  await using recorder = await Recorder.start({ endpoints, out, ...limits, ...options });
  await writes(etcd, options.login);
  await etcd.kill("m0");
  await writes(etcd, options.login);
  await etcd.revive("m0");
  await writes(etcd, options.login);
  return await recorder.stop();
}

/** So that nothing passes because nothing happened. */
async function isGood(etcd: RealEtcd, out: string, summary: Summary): Promise<void> {
  assert.ok(summary.acknowledged > 150 && summary.reads > 100 && summary.rate > 0, JSON.stringify(summary));
  assert.ok(summary.lastWrite && summary.longestWriteGap.ms > 0, JSON.stringify(summary));
  const judgement = await judge(out, { data: dataOf(etcd) });
  assert.deepEqual(withStatus(judgement, "passed"), checkNames, JSON.stringify(judgement, undefined, 1));
  assert.equal(judgement.page, undefined);
  const { counts } = judgement;
  assert.ok(counts.operations > 250 && counts.watchEvents > 500 && counts.persisted > 150, JSON.stringify(counts));
  assert.ok(counts.readsAtRevision > 10 && counts.localReads > 10 && counts.leases > 1, JSON.stringify(counts));
}

describe("a run that loses a member for a while passes every check", () => {
  test("etcd 3.6, with certificates and a login", async () => {
    const tls = await clientTls(await newAuthority("etcd"));
    const { ca, identity } = tls.client;
    assert.ok(identity);
    await using etcd = await RealEtcd.startCluster("3.6.16", members.length, { flags, tls });
    await etcd.setUser(root, ["root"]);
    await etcd.enableAuth(root);
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(path.join(scratch, name), text);
      return path.join(scratch, name);
    };
    const out = path.join(scratch, "secure");
    const summary = await recordWhileOneDies(etcd, out, {
      tls: {
        ca: await file("ca.crt", ca),
        cert: await file("tls.crt", identity.cert),
        key: await file("tls.key", identity.key),
      },
      login: root,
    });
    await isGood(etcd, out, summary);
  });

  matrixTest("etcd 3.5, whose logs also have requests of the store before", async () => {
    await using etcd = await RealEtcd.startCluster("3.5.35", members.length, { flags });
    const out = path.join(scratch, "older");
    await isGood(etcd, out, await recordWhileOneDies(etcd, out));
  });

  describe("etcd 3.7", () => {
    let etcd: RealEtcd;
    let out: string;
    before(async () => {
      etcd = await RealEtcd.startCluster("3.7.3", members.length, { flags });
      out = path.join(scratch, "good");
      await isGood(etcd, out, await recordWhileOneDies(etcd, out));
    });
    after(() => etcd?.[Symbol.asyncDispose]());

    test("and so does the same recording after it was read and written here", async () => {
      const copy = path.join(scratch, "copy");
      await (await Recording.load(out)).saveAs(copy);
      assert.deepEqual(withStatus(await judge(copy, { data: dataOf(etcd) }), "passed"), checkNames);
    });

    for (const [at, { what, check, why, spoil }] of badHistories.entries())
      test(`${check} finds ${what}`, async () => {
        const bad = path.join(scratch, `bad-${at}`);
        const recording = await Recording.load(out);
        spoil(recording);
        await recording.saveAs(bad);
        const judgement = await judge(bad, { data: dataOf(etcd) });
        assert.deepEqual(withStatus(judgement, "failed"), [check], JSON.stringify(judgement, undefined, 1));
        assert.match(judgement.checks[check].why ?? "", why);
        // porcupine draws what it was given, and it gets nothing that breaks the assumptions.
        if (check === "assumptions") assert.equal(judgement.page, undefined);
        else assert.ok((await stat(judgement.page ?? "")).size > 10_000);
      });

    test("every check has a bad history", () => {
      assert.deepEqual(
        checkNames.filter((name) => !badHistories.some(({ check }) => check === name)),
        [],
      );
    });

    test("without the logs of the members, what they are needed for is skipped, and not passed", async () => {
      const judgement = await judge(out);
      assert.deepEqual(withStatus(judgement, "skipped"), ["watch", "serializable", "local"]);
      assert.deepEqual(withStatus(judgement, "failed"), []);
      assert.match(judgement.checks.watch.why ?? "", /no data folder/);
    });

    test("a log that cannot be had is a reason to skip, and not to go by the others", async () => {
      const judgement = await judge(out, { data: [...dataOf(etcd), path.join(scratch, "nowhere")] });
      assert.deepEqual(withStatus(judgement, "skipped"), ["watch", "serializable", "local"]);
    });

    test("users that change while clients write are a reason to skip: members refuse what their logs have", async () => {
      await etcd.setUser(root, ["root"]);
      await etcd.member("m0").put("key/0", "later");
      const judgement = await judge(out, { data: dataOf(etcd) });
      assert.deepEqual(withStatus(judgement, "skipped"), ["watch", "serializable", "local"]);
      assert.match(judgement.checks.watch.why ?? "", /users, roles or alarms changed/);
    });

    test("a database that is not empty is refused before anything is recorded", async () => {
      const options = { endpoints: [etcd.clientUrl("m0")], out: path.join(scratch, "none"), seconds: 1 };
      await assert.rejects(Recorder.start(options), /the database is not empty/);
    });

    test("a folder that has something in it is not replaced", async () => {
      const options = { endpoints: [etcd.clientUrl("m0")], out, seconds: 1 };
      await assert.rejects(Recorder.start(options), /is not empty/);
    });
  });
});
