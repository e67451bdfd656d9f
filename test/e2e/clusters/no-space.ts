// Alarms: a full database takes no more writes, NoSpace is reported with what to do, and cleared when there is room again;
// and one member that etcd calls corrupt costs nobody their place in the client Service.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdError } from "../../../src/etcd/errors.ts";
import type { EtcdMember } from "../../../src/etcd/member.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import { readyEndpoints } from "../proofs/client-service-watch.ts";
import type { TestCluster } from "../support/cluster.ts";
import { raiseCorrupt } from "../support/disruptions.ts";
import { lane } from "../support/lane.ts";
import { conditionOf } from "../support/status.ts";
import { patience, patiently } from "../support/environment.ts";

const megabyte = 1 << 20;
const prefix = "/no-space/";

export function noSpace(): void {
  describe("no space", { concurrency: 1 }, () => {
    const on = lane("no-space", { size: 3, etcd: { quotaBackendBytes: 16 * megabyte } });

    test("a full database is reported with what to do, and its members are left alone", async () => {
      const { cluster, writer, first } = on();
      const { etcd } = first.leader;
      await fillUp(etcd);
      const full = await cluster.until(
        "Ready is NoSpace",
        (cluster) => conditionOf(cluster, "Ready")?.reason === "NoSpace",
      );
      assert.match(conditionOf(full, "Ready")?.message ?? "", /full.*compact and defragment, or raise/);
      await cluster.untilEvent("No Space");

      await makeRoom(
        etcd,
        first.members.map((member) => member.etcd),
      );
      const after = await cluster.untilHealthy();
      assert.deepEqual(
        after.members.map(({ id, uid, restarts }) => ({ id, uid, restarts })),
        first.members.map(({ id, uid, restarts }) => ({ id, uid, restarts })),
      );
      await writer.nothingIsLost();
    });

    test("one member that etcd calls corrupt takes nobody out of the client Service: all still serve reads", async () => {
      const { cluster, writer } = on();
      const { leader, members } = await cluster.untilHealthy();
      const names = members.map(({ name }) => name);
      await untilEndpoints(cluster, names);
      const accused = members.find(({ id }) => id !== leader.id) ?? assert.fail("no follower");
      const { memberId: member } = await accused.etcd.status(patiently);
      await raiseCorrupt(leader.address, member);
      for (const { name, etcd, address } of members) {
        const knows = async (): Promise<boolean> => (await etcd.status()).alarms.some(({ type }) => type === "corrupt");
        await waitFor(`${name} to know of the alarm`, async () => (await knows()) || undefined, {
          timeoutMs: patience,
        });
        // What the kubelet asks every second, and what decides who is in the Service for as long as the alarm lasts.
        const answer = await asKubelet((await cluster.pod(name)) ?? assert.fail(`${name} is gone`), address);
        assert.equal(answer, 200, `the readiness probe of ${name}`);
      }
      await untilEndpoints(cluster, names);
      for (const { etcd } of members) await etcd.get("/key", {}, patiently);
      await leader.etcd.disarm({ member, type: "corrupt" }, patiently);
      await cluster.untilHealthy();
      await writer.nothingIsLost();
    });
  });
}

async function untilEndpoints(cluster: TestCluster, names: readonly string[]): Promise<void> {
  let seen: string[] = [];
  await waitFor(
    `endpoints of ${names.join(", ")}`,
    async () => {
      seen = [...(await readyEndpoints(cluster)).keys()].toSorted();
      return isDeepStrictEqual(seen, names.toSorted()) || undefined;
    },
    { timeoutMs: patience, lastSeen: () => seen.join(", ") },
  );
}

/** The HTTP status that its readiness probe gets. */
async function asKubelet({ spec }: Pod, address: string): Promise<number> {
  const { path = "", port } = spec?.containers[0]?.readinessProbe?.httpGet ?? assert.fail("no probe by HTTP");
  const ask = async (): Promise<number> => {
    const answer = await fetch(`http://${address}:${port}${path}`, { signal: AbortSignal.timeout(30_000) });
    return answer.status;
  };
  return waitFor(`an answer to ${path}`, ask, { timeoutMs: patience });
}

async function fillUp(etcd: EtcdMember): Promise<void> {
  for (let at = 0; at < 64; at += 1) {
    const put = (): Promise<"it fits" | "full"> =>
      etcd.put(`${prefix}${at}`, Buffer.alloc(megabyte, "x"), patiently).then(
        () => "it fits",
        (error: unknown) => {
          if (error instanceof EtcdError && error.reason === "noSpace") return "full";
          throw error;
        },
      );
    // etcd gives up on a write that three members do not get to disk within seconds.
    if ((await waitFor(`megabyte ${at} to be written`, put, { timeoutMs: patience })) === "full") return;
  }
  throw new Error("64 MB fit in: the quota is not in force");
}

/** What the message says to do. */
async function makeRoom(etcd: EtcdMember, members: readonly EtcdMember[]): Promise<void> {
  // A few at a time: there is a limit to what is taken in one answer.
  for (let left = true; left; ) {
    const { keys, more } = await etcd.list(prefix, { limit: 4 }, patiently);
    for (const { key } of keys) await etcd.delete(key, patiently);
    left = more;
  }
  const { revision } = await etcd.status(patiently);
  await etcd.compact(revision);
  for (const member of members) await member.defragment();
  for (const alarm of await etcd.alarms(patiently)) await etcd.disarm(alarm, patiently);
}
