// Our checks beside etcd's: what an operator could break although each history of requests is right.
import type { Verdict } from "../../test/robustness/judge.ts";
import type { Answer, OperatorAction, Sample } from "./samples.ts";

export const ourChecks = ["traffic", "healed", "hash", "identity", "oneDisruption", "change"] as const;
export type OurCheck = (typeof ourChecks)[number];

export const passed: Verdict = { status: "passed" };
export const failed = (why: string): Verdict => ({ status: "failed", why });
export const skipped = (why: string): Verdict => ({ status: "skipped", why });

const verdict = (complaints: readonly string[]): Verdict =>
  complaints.length === 0 ? passed : failed([...new Set(complaints)].slice(0, 5).join("; "));

/** Requests a second before the fault. With fewer, nothing was going on that could have gone wrong. */
export const fewestRequests = 50;

/** Too little traffic is nobody's fault, and proves nothing. */
export function trafficVerdict(answered: number, seconds: number): Verdict {
  const rate = answered / seconds;
  if (rate >= fewestRequests) return passed;
  return skipped(`${rate.toFixed(0)} requests a second before the fault, and a round counts from ${fewestRequests} on`);
}

/** One cluster id for ever, and no member goes back in time. */
export function identityVerdict(samples: readonly Sample[]): Verdict {
  const complaints: string[] = [];
  const before = new Map<string, Answer[]>();
  let known: string | undefined;
  for (const { at, members } of samples)
    for (const { name, answer } of members) {
      if (answer === undefined) continue;
      known ??= answer.clusterId;
      if (answer.clusterId !== known) complaints.push(`${name} has cluster id ${answer.clusterId} instead of ${known}`);
      const earlier = before.get(name) ?? [];
      // Only what was known when this was asked: of two questions under way at once either may be answered first.
      const newer = earlier.find((one) => one.at <= at && (one.revision > answer.revision || one.term > answer.term));
      if (newer !== undefined)
        complaints.push(
          `${name} went from revision ${newer.revision}, term ${newer.term} back to revision ${answer.revision}, term ${answer.term}`,
        );
      before.set(name, [...earlier, answer]);
    }
  return known === undefined ? skipped("no member ever answered") : verdict(complaints);
}

export interface Hash {
  readonly member: string;
  readonly hash: number;
  readonly compactRevision: number;
}

export function hashVerdict(hashes: readonly Hash[]): Verdict {
  const [first] = hashes;
  if (first === undefined) return skipped("no member was asked for its hash");
  const differ = hashes.some(
    ({ hash, compactRevision }) => hash !== first.hash || compactRevision !== first.compactRevision,
  );
  const each = hashes.map(({ member, hash, compactRevision }) => `${member} ${hash} (compacted at ${compactRevision})`);
  return differ ? failed(`members hold different data at one revision: ${each.join(", ")}`) : passed;
}

/** Longer than a member that is well is silent on a busy machine. */
const silentForMs = 5_000;
/** Fewer samples in that time mean that the sampling stood still. */
const fewestSamples = 3;

/**
 * Each step of the operator, by its log, that stops a serving member: the others have to be a quorum, and
 * for a restart all of them have to be there. Others that were silent for seconds do not count as being there.
 */
export function oneDisruptionVerdict(actions: readonly OperatorAction[], samples: readonly Sample[]): Verdict {
  const known = samples.filter(({ voters }) => voters !== undefined);
  if (known.length === 0) return skipped("nobody could list the members");
  const complaints: string[] = [];
  const removed = new Set<string>();
  for (const action of actions) {
    const isOut = removed.has(action.member);
    if (action.do === "removeMember") removed.add(action.member);
    if (isOut || !stopsAMember(action)) continue;
    const voters = known.findLast(({ at }) => at <= action.at)?.voters ?? [];
    if (!voters.includes(action.member) || isSilent(action.member, action.at, samples)) continue;
    const others = voters.filter((name) => name !== action.member && !removed.has(name));
    const silent = others.filter((name) => isSilent(name, action.at, samples));
    const needed = action.do === "removeMember" ? Math.floor(others.length / 2) + 1 : others.length;
    if (others.length > 0 && others.length - silent.length < needed)
      complaints.push(
        `${action.do} of ${action.member} while ${silent.join(", ")} had been silent for ${silentForMs / 1000} s, of the voters ${voters.join(", ")}`,
      );
  }
  return verdict(complaints);
}

/** Not `startAgain`: that is for members which are kept apart by their CAs, and has to work without anybody's consent. */
function stopsAMember({ do: what, cause }: OperatorAction): boolean {
  return what === "changeImage" || what === "deletePod" || (what === "removeMember" && cause === "unwanted");
}

function isSilent(member: string, at: number, samples: readonly Sample[]): boolean {
  const before = samples.filter((sample) => sample.at > at - silentForMs && sample.at <= at);
  return (
    before.length >= fewestSamples &&
    before.every(({ members }) => members.find(({ name }) => name === member)?.answer === undefined)
  );
}

export interface Content {
  readonly revision: number;
  /** Key and value. */
  readonly keys: readonly (readonly [key: string, value: string])[];
}

/** After a restore there is exactly what was backed up, and nothing later; and the revision has not gone back. */
export function restoreVerdict(backedUp: Content, before: number, after: Content): Verdict {
  const complaints: string[] = [];
  const [expected, found] = [new Map(backedUp.keys), new Map(after.keys)];
  for (const [key, value] of expected)
    if (found.get(key) !== value) complaints.push(`${key} is ${found.get(key) ?? "gone"} instead of ${value}`);
  for (const [key] of found) if (!expected.has(key)) complaints.push(`${key} was not backed up`);
  if (after.revision < before) complaints.push(`the revision went from ${before} back to ${after.revision}`);
  return verdict(complaints);
}
