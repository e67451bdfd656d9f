// What the contract needs of an etcd cluster that it may do anything to: in memory, or real processes.
import assert, { AssertionError } from "node:assert/strict";
import { TransportError } from "../../transport/errors.ts";
import { EtcdError } from "../errors.ts";
import type { MemberId } from "../ids.ts";
import type { Login } from "../login.ts";
import type { EtcdMember, Member } from "../member.ts";
import { has } from "../versions/features.ts";
import type { EtcdVersion } from "../versions/version.ts";

/** Begins as a cluster of one running voter, `m0`. */
export interface EtcdWorld extends AsyncDisposable {
  readonly version: EtcdVersion;
  member(name: string, login?: Login): EtcdMember;
  /** Gives a user this password, and these roles besides those that it has. */
  setUser(login: Login, roles: readonly string[]): Promise<void>;
  /** Needs a user `root` with the role `root`. From then on `member` without a login is nobody's. */
  enableAuth(by: Login): Promise<void>;
  disableAuth(): Promise<void>;
  peerUrl(name: string): string;
  /** Starts the process of a member that the cluster lists by its peer URL; resolves when it answers. */
  join(name: string): Promise<void>;
  /** Ends a process without a word. */
  kill(name: string): Promise<void>;
  /** Starts a killed process again with its data. */
  revive(name: string): Promise<void>;
  /** Writes until the cluster is out of space. */
  fillUp(): Promise<void>;
  /** A moment between two reads. */
  letTimePass(): Promise<void>;
  /** For failure messages. */
  readonly log: string;
}

/** With real servers a minute and more: an election on a busy machine takes its time. */
const mostTries = 800;

/** Tries until it succeeds. An error that is not expected on the way ends it. */
export async function succeedsInTime<T>(
  world: EtcdWorld,
  what: string,
  attempt: () => Promise<T>,
  expectedOnTheWay: (error: unknown) => boolean,
): Promise<T> {
  let last: unknown;
  for (let tries = 0; tries < mostTries; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!expectedOnTheWay(error)) throw error;
      last = error;
    }
    await world.letTimePass();
  }
  throw new AssertionError({ message: `${what} did not succeed; last: ${String(last)}\n${world.log}` });
}

/** Reads until the value is the expected one. */
export async function comesTrue<T>(
  world: EtcdWorld,
  what: string,
  read: () => Promise<T>,
  wanted: (seen: T) => boolean,
): Promise<T> {
  let last: unknown;
  for (let tries = 0; tries < mostTries; tries += 1) {
    try {
      const seen = await read();
      if (wanted(seen)) return seen;
      last = seen;
    } catch (error) {
      last = error;
    }
    await world.letTimePass();
  }
  const seen = last instanceof Error ? String(last) : JSON.stringify(last);
  throw new AssertionError({ message: `${what} did not come true; last seen: ${seen}\n${world.log}` });
}

export function isRefusal(...reasons: EtcdError["reason"][]): (error: unknown) => boolean {
  return (error) => error instanceof EtcdError && reasons.includes(error.reason);
}

export async function refuses(call: Promise<unknown>, ...reasons: EtcdError["reason"][]): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof EtcdError, String(error));
    assert.ok(reasons.includes(error.reason), `${error.reason}: ${error.message}`);
    assert.ok(error.refused);
    return true;
  });
}

/** The server waits for a quorum, for 7 s at most; whose patience ends first is not the point. */
export function isUndecided(error: unknown): boolean {
  if (error instanceof TransportError) return error.failure === "deadline" && !error.neverSent;
  return isRefusal("timeout", "noLeader", "leaderChanged")(error);
}

/** One whose answer was lost has removed it all the same. */
export async function removed(world: EtcdWorld, asked: EtcdMember, id: MemberId): Promise<void> {
  const isGone = isRefusal("memberNotFound", "memberRemoved");
  await succeedsInTime(
    world,
    `removing ${id}`,
    () =>
      asked.memberRemove(id).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      }),
    isRefusal("unhealthyCluster", "timeout", "noLeader", "leaderChanged"),
  );
}

/** Adds a member the best way that the version has, starts it, and makes it a voter. */
export async function grow(world: EtcdWorld, name: string, login?: Login): Promise<Member> {
  const m0 = world.member("m0", login);
  const peerUrls = [world.peerUrl(name)];
  const learner = has(world.version, "learners");
  const { member } = await succeedsInTime(
    world,
    `adding ${name}`,
    () => m0.memberAdd(learner ? { as: "learner", peerUrls, oldestServer: world.version } : { as: "voter", peerUrls }),
    isRefusal("unhealthyCluster"),
  );
  await world.join(name);
  if (learner)
    await succeedsInTime(world, `promoting ${name}`, () => m0.memberPromote(member.id), isRefusal("learnerNotReady"));
  await comesTrue(
    world,
    `${name} is healthy`,
    () => world.member(name, login).health(),
    (health) => health.t === "healthy",
  );
  return member;
}
