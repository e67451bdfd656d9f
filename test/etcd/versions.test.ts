// What the tables say about etcd's versions, asked of the programs themselves.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import { etcdVersions } from "../../lab/build/etcd.ts";
import { has, probesOf } from "../../src/etcd/versions/features.ts";
import { flagsOf } from "../../src/etcd/versions/flags.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { etcdProgram, RealEtcd } from "./real-etcd.ts";

const everyFlag = new Set(etcdVersions.flatMap((built) => [...flagsOf(version(built))]));

/** A program that knows the flag goes on to the next, which none knows. */
function knows(program: string, flag: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, [`--${flag}=?`, "--no-such-flag"], { timeout: 20_000 }, (_error, stdout, stderr) => {
      resolve(!new RegExp(`not defined: -+${flag}\\b(?!-)`).test(stdout + stderr));
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  await new Promise((resolve) => server.close(resolve));
  return address.port;
}

for (const built of etcdVersions)
  describe(`etcd ${built}`, () => {
    const v = version(built);

    test("has the flags that the table says, and no other of them", async () => {
      const program = await etcdProgram(built);
      const wrong: string[] = [];
      for (const flag of everyFlag) if ((await knows(program, flag)) !== flagsOf(v).has(flag)) wrong.push(flag);
      assert.deepEqual(wrong, []);
    });

    test("answers its probes where the table says", async () => {
      const port = await freePort();
      const metrics = has(v, "metricsListener") ? [`--listen-metrics-urls=http://127.0.0.1:${port}`] : [];
      await using etcd = await RealEtcd.start(built, { flags: metrics });
      const probes = probesOf(v);
      for (const probe of [probes.liveness, probes.readiness]) {
        if (probe.on === "clientPort") continue;
        const base = probe.on === "metrics" ? `http://127.0.0.1:${port}` : etcd.clientUrl("m0");
        const response = await fetch(`${base}${probe.path}`);
        assert.equal(response.status, 200, probe.path);
      }
      const livez = await fetch(`${metrics.length > 0 ? `http://127.0.0.1:${port}` : etcd.clientUrl("m0")}/livez`);
      assert.equal(livez.status === 200, has(v, "livezReadyz"));
    });

    if (has(v, "maxLearners"))
      test("takes several learners at once when told to", async () => {
        await using etcd = await RealEtcd.start(built, { flags: ["--max-learners=3"] });
        for (const name of ["m1", "m2", "m3"])
          await etcd.member("m0").memberAdd({ as: "learner", peerUrls: [etcd.peerUrl(name)], oldestServer: v });
        const { members } = await etcd.member("m0").memberList({ linearizable: true });
        assert.equal(members.filter(({ learner }) => learner).length, 3);
      });
  });
