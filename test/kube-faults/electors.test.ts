// Two processes that stand for one lease: how soon the second takes over when the first ends, dies or stands still,
// and that a leader which stood still writes nothing when it wakes up, by the API server's own log.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { auditEntries, auditMark, settleAudit } from "../../lab/audit/audit.ts";
import type { AuditEntry, AuditMark } from "../../lab/audit/audit-log.ts";
import { say } from "../../lab/progress.ts";
import { connectKube, type KubeClient } from "../../src/kube/client/client.ts";
import { usualTiming } from "../../src/kube/leader/election.ts";
import { findCredentials } from "../../src/kube/credentials/find-credentials.ts";
import { ConfigMap, Lease } from "../../src/kube/objects/kinds.ts";
import { ownNamespace } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";
import { Elector } from "./elector.ts";

const lab = testLab();
const { leaseDuration } = usualTiming;
/** In which a process starts on a busy machine, is given its permissions, and says something. */
const patience = 60_000;
const electors: Elector[] = [];
let admin: KubeClient;
let namespace: string;

before(async () => {
  admin = connectKube({ credentials: await findCredentials() });
  namespace = await ownNamespace("electors");
});
after(() => {
  for (const elector of electors) elector.end();
  admin.close();
});

async function elect(lease: string, identity: string, unfenced = false): Promise<Elector> {
  const elector = await Elector.start(lab, admin, { namespace, lease, identity, unfenced });
  electors.push(elector);
  return elector;
}

/** A leader that writes, and a standby that follows it. */
async function leaderAndStandby(lease: string): Promise<[Elector, Elector]> {
  await admin.create(ConfigMap, { metadata: { namespace, name: lease } });
  const leader = await elect(lease, `${lease}-first`);
  await leader.says("wrote", 0, patience);
  const standby = await elect(lease, `${lease}-second`);
  await standby.says("following", 0, patience);
  // From here on it has seen the leader renew, as a standby in service has.
  await renewals(lease, 3);
  return [leader, standby];
}

/** Waits for this many renewals of the lease. */
async function renewals(lease: string, count: number): Promise<void> {
  const signal = new AbortController();
  let seen = 0;
  const { metadata } = await admin.get(Lease, { namespace, name: lease });
  const from = { namespace, fieldSelector: `metadata.name=${lease}`, resourceVersion: metadata?.resourceVersion ?? "" };
  const timeout = setTimeout(() => signal.abort(new Error(`${seen} renewals of ${lease}`)), patience);
  const enough = new Error("enough renewals");
  await admin
    .watch(Lease, { ...from, signal: signal.signal }, (event) => {
      if (event.type === "MODIFIED" && (seen += 1) >= count) signal.abort(enough);
    })
    .catch((error: unknown) => {
      if (error !== enough) throw error;
    });
  clearTimeout(timeout);
}

const isWrite = ({ verb, stage }: AuditEntry): boolean =>
  !["get", "list", "watch"].includes(verb) && stage === "ResponseComplete";
const isGood = ({ code }: AuditEntry): boolean => code >= 200 && code < 300;

/** One that was on its way when the process stood still: the Lease is another's by then, and its resourceVersion too old. */
const isRefusedRenewal = ({ resource, code }: AuditEntry): boolean => resource === "leases" && code === 409;

async function writesOf(elector: Elector, from: AuditMark): Promise<AuditEntry[]> {
  await settleAudit(lab);
  return (await auditEntries(lab, from)).filter((entry) => entry.user === elector.user && isWrite(entry));
}

/**
 * When the lease that this elector renewed last ran out, at the earliest that a rival may think so: it sees a renewal after
 * that came to the API server, and perhaps before that has answered.
 */
function leasePassed(writes: readonly AuditEntry[], before: number): number {
  const renewals = writes.filter(
    (entry) => entry.resource === "leases" && isGood(entry) && Date.parse(entry.time) <= before,
  );
  const last = renewals.at(-1);
  assert.ok(last, "it never renewed its lease");
  return Date.parse(last.received) + leaseDuration;
}

test("a leader that is asked to end hands over, and its lease is not waited for", async () => {
  const mark = auditMark(lab);
  const [leader, standby] = await leaderAndStandby("ends");
  const asked = Date.now();
  leader.signal("SIGTERM");
  const taken = await standby.says("wrote", asked, patience);
  say(`  from SIGTERM to the first write of the next leader: ${taken - asked} ms`);
  const passed = leasePassed(await writesOf(leader, mark), asked);
  assert.ok(taken < passed, `${taken - passed} ms after the lease had run out`);
});

test("a leader that is killed is followed when its lease has run out, and not before", async () => {
  const mark = auditMark(lab);
  const [leader, standby] = await leaderAndStandby("dies");
  const killed = Date.now();
  leader.signal("SIGKILL");
  // On a busy machine it takes some time to see that, and to write.
  const took = await standby.says("wrote", killed, leaseDuration + patience);
  const passed = leasePassed(await writesOf(leader, mark), killed);
  say(
    `  from SIGKILL to the first write of the next leader: ${took - killed} ms; after the lease: ${took - passed} ms`,
  );
  assert.ok(took >= passed, `${passed - took} ms before the lease had run out`);
});

test("a leader that stood still for twice as long as its lease writes nothing after that has passed", async () => {
  const mark = auditMark(lab);
  const [leader, standby] = await leaderAndStandby("stands");
  await admin.create(ConfigMap, { metadata: { namespace, name: "unfenced" } });
  const unfenced = await elect("unfenced", "unfenced", true);
  await unfenced.says("wrote", 0, patience);
  const stopped = Date.now();
  for (const elector of [leader, unfenced]) elector.signal("SIGSTOP");
  const taken = await standby.says("wrote", stopped, leaseDuration + patience);
  await sleep(stopped + 2 * leaseDuration - Date.now());
  const resumed = Date.now();
  for (const elector of [leader, unfenced]) elector.signal("SIGCONT");
  await leader.says("following", resumed, patience);
  await renewals("stands", 3);

  const writes = await writesOf(leader, mark);
  const passed = leasePassed(writes, resumed);
  const late = (entries: AuditEntry[], since: number): AuditEntry[] =>
    entries.filter((entry) => Date.parse(entry.time) > since);
  say(`  ${writes.length} writes before it stood still, the next leader wrote after ${taken - stopped} ms`);
  assert.ok(writes.filter(({ resource }) => resource === "configmaps").length > 20, `${writes.length} writes`);
  assert.deepEqual(
    late(writes, passed).filter((entry) => !isRefusedRenewal(entry)),
    [],
  );
  assert.equal((await admin.get(Lease, { namespace, name: "stands" })).spec?.holderIdentity, "stands-second");
  // The log would have shown it.
  const careless = await writesOf(unfenced, mark);
  assert.ok(late(careless, leasePassed(careless, stopped)).some(({ resource }) => resource === "configmaps"));
});
