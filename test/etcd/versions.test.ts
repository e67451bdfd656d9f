// Checks the tables of src/etcd/versions against the programs themselves.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
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
    execFile(program, [`--${flag}=?`, "--no-such-flag"], { timeout: 20_000 }, (_error, stdout, stderr) => {
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
