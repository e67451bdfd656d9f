// Checks the tables of src/etcd/versions against the programs themselves.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { etcdVersions } from "../../lab/build/etcd.ts";
import { comesTrue, isRefusal } from "../../src/etcd/testing/world.ts";
import { has, learnersAdmitted, type Probe, probesOf } from "../../src/etcd/versions/features.ts";
import { flagsOf } from "../../src/etcd/versions/flags.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { triedVersions } from "../support/matrix.ts";
import { etcdProgram, RealEtcd } from "./real-etcd.ts";

const everyFlag = new Set(etcdVersions.flatMap((built) => [...flagsOf(version(built))]));

/** A program that has the flag complains about the next one, which none has. */
function knows(program: string, flag: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, [`--${flag}=?`, "--no-such-flag"], { timeout: 120_000 }, (_error, stdout, stderr) => {
      resolve(!new RegExp(`not defined: -+${flag}\\b(?!-)`).test(stdout + stderr));
    });
  });
}

/** Rejects when there is no answer: before a member serves, its client port takes connections and says nothing. */
async function statusAt(url: string, withinMs = 30_000): Promise<number> {
  const response = await fetch(url, { signal: AbortSignal.timeout(withinMs) });
  await response.body?.cancel();
  return response.status;
}

/** Within less than a kubelet waits for. */
async function lives(etcd: RealEtcd, probe: Probe, name = "m0"): Promise<void> {
  if (probe.on === "clientPort") {
    const socket = connect(Number(new URL(etcd.clientUrl(name)).port), "127.0.0.1");
    await once(socket, "connect", { signal: AbortSignal.timeout(5000) });
    socket.destroy();
    return;
  }
  assert.equal(await statusAt(`${etcd.metricsUrl(name)}${probe.path}`, 5000), 200);
}

for (const built of triedVersions)
  describe(`etcd ${built}`, () => {
    const v = version(built);

    test("has the flags that the table says, and no other of them", async () => {
      const program = await etcdProgram(built);
      const wrong: string[] = [];
      for (const flag of everyFlag) if ((await knows(program, flag)) !== flagsOf(v).has(flag)) wrong.push(flag);
      assert.deepEqual(wrong, []);
    });

    test("answers its probes where the table says, and its readiness not before it serves clients", async () => {
      await using etcd = await RealEtcd.startWithoutQuorum(built);
      const { liveness, readiness } = probesOf(v);
      const answer = (probe: Probe, withinMs?: number): Promise<number> => {
        if (probe.on === "clientPort") return Promise.resolve(200);
        const base = probe.on === "metrics" ? etcd.metricsUrl("m0") : etcd.clientUrl("m0");
        return statusAt(`${base}${probe.path}`, withinMs);
      };
      await comesTrue(
        etcd,
        "it asks for votes",
        async () => etcd.logOf("m0"),
        (log) => /became (pre-)?candidate/.test(log),
      );
      assert.equal(await answer(liveness), 200, "it lives without a leader");
      await assert.rejects(answer(readiness, 1000), "it serves nobody without a leader");
      await etcd.completeNewCluster();
      await comesTrue(
        etcd,
        "it is ready",
        () => answer(readiness, 1000),
        (status) => status === 200,
      );
      assert.equal((await etcd.member("m0").health()).t, "healthy");
      assert.equal((await statusAt(`${etcd.clientUrl("m0")}/livez`)) === 200, has(v, "livezReadyz"));
    });

    test("writes nothing into its raft log for a probe: 3.6 does not start with a QGET of an older version in it", async () => {
      await using etcd = await RealEtcd.start(built);
      const { readiness } = probesOf(v);
      assert.ok(readiness.on === "client");
      const before = (await etcd.member("m0").status()).raftIndex;
      for (let n = 0; n < 50; n += 1) assert.equal(await statusAt(`${etcd.clientUrl("m0")}${readiness.path}`), 200);
      const after = (await etcd.member("m0").status()).raftIndex;
      // etcd itself may publish something meanwhile, as its version.
      assert.ok(after - before < 10, `${after - before} entries`);
    });

    test("stays ready when it is out of space: it still serves reads and deletes", async () => {
      await using etcd = await RealEtcd.start(built, { flags: [`--quota-backend-bytes=${16 << 20}`] });
      await etcd.fillUp();
      const { readiness } = probesOf(v);
      assert.ok(readiness.on === "client");
      assert.equal(await statusAt(`${etcd.clientUrl("m0")}${readiness.path}`), 200);
    });

    test("lives while it defragments, however long that takes", async () => {
      await using etcd = await RealEtcd.start(built);
      const piece = randomBytes(1 << 20);
      for (let n = 0; n < 30; n += 1) await etcd.member("m0").put(`piece/${n}`, piece);
      let answers = 0;
      // Again and again: a fast machine is done before it is asked often enough.
      for (let round = 0; answers <= 3; round += 1) {
        assert.ok(round < 100, `${answers} answers before it was done ${round} times`);
        const over = new AbortController();
        const defragmentation = etcd
          .member("m0")
          .defragment({ deadline: 300_000 })
          .finally(() => over.abort());
        for (; !over.signal.aborted; await setTimeout(5)) {
          await lives(etcd, probesOf(v).liveness);
          if (!over.signal.aborted) answers += 1;
        }
        await defragmentation;
      }
    });

    if (has(v, "learners"))
      test("stays ready when etcd finds another member corrupt: it still serves reads", async () => {
        await using etcd = await RealEtcd.startCluster(built, 3);
        await etcd.raiseCorrupt("m1");
        const { readiness } = probesOf(v);
        assert.ok(readiness.on === "client");
        const onMetrics = probesOf(v, "needed").readiness;
        for (const name of ["m0", "m2"]) {
          await comesTrue(
            etcd,
            `${name} knows of the alarm`,
            () => etcd.member(name).status(),
            ({ alarms }) => alarms.length > 0,
          );
          assert.equal(await statusAt(`${etcd.clientUrl(name)}${readiness.path}`), 200);
          if (onMetrics.on === "metrics")
            assert.equal(await statusAt(`${etcd.metricsUrl(name)}${onMetrics.path}`), 200);
          await lives(etcd, probesOf(v).liveness, name);
          await etcd.member(name).get("key");
        }
        await assert.rejects(etcd.member("m0").put("key", "1"), isRefusal("corrupt"));
      });

    for (const setting of [undefined, 3])
      if (has(v, "learners"))
        test(`started with max-learners ${setting ?? "unset"} admits as many learners as the table says`, async () => {
          const env = setting === undefined ? {} : { ETCD_MAX_LEARNERS: String(setting) };
          await using etcd = await RealEtcd.start(built, { env });
          const admitted = learnersAdmitted(v, setting);
          const add = (name: string): Promise<unknown> =>
            etcd.member("m0").memberAdd({ as: "learner", peerUrls: [`http://${name}.example:2380`], oldestServer: v });
          for (let n = 0; n < admitted; n += 1) await add(`m${n}`);
          await assert.rejects(add("one-too-many"), isRefusal("tooManyLearners"));
        });
  });
