// From the loss of a follower's pod in a cluster that holds much data to three voters that hold all of it, and to three
// that serve clients. Beside it the same done by hand and without a pause, to plain pods with as much data.
import { randomBytes } from "node:crypto";
import { step, type Step } from "../../lab/progress.ts";
import type { EtcdMember } from "../../src/etcd/member.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, endPlain, makeOperated, makePlain, openBoth } from "../places/both.ts";
import { replaceByHand } from "../places/by-hand.ts";
import type { Place } from "../places/place.ts";
import { rest, stopwatch, until } from "../places/until.ts";
import { rolesOf, type Voter } from "../places/voters.ts";

const name = "large";
const size = 3;
const mebibytes = 200;
const valueBytes = 256 * 1024;
/** Writes at once. */
const writers = 8;
/** A write that waits for a slow disk is not given up. */
const writeWithinMs = 60_000;
/** Each moves all data once, and both clusters lie on the disks meanwhile. */
const mostRounds = 3;

/** Seconds since the pod was deleted. */
interface Healed {
  readonly whole: number;
  readonly serving: number;
}

export async function clusterHealLarge(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const { operated, plain } = both;
  const ours: Healed[] = [];
  const floor: Healed[] = [];
  const rounds = Math.min(ground.options.rounds, mostRounds);
  await step(`a pod of a cluster with ${mebibytes} MiB deleted ${rounds} times`, async (progress) => {
    let theirs = await makePlain(plain, name, size);
    await fill(theirs, ground.signal, progress);
    let voters = await makeOperated(operated, name, size);
    await fill(voters, ground.signal, progress);
    for (let round = 0; round < rounds; round += 1) {
      await rest(ground.signal);
      const byHand = await heal(plain, theirs, (leader, lost) =>
        replaceByHand(plain, { cluster: name, lost, joining: `${name}-${size + round}`, leader: leader.etcd }),
      );
      theirs = byHand.voters;
      floor.push(byHand.healed);
      await rest(ground.signal);
      const byOperator = await heal(operated, voters, (_, lost) => operated.deleteNow(lost));
      voters = byOperator.voters;
      ours.push(byOperator.healed);
      progress.detail(
        `whole in ${seconds(ours, "whole")}, serving in ${seconds(ours, "serving")}; floor ${seconds(
          floor,
          "whole",
        )}, ${seconds(floor, "serving")}`,
      );
    }
    await endPlain(plain, name);
    await endOperated(operated, name);
  });
  const figure = (what: string, of: keyof Healed): Figure =>
    compare({
      what: `follower of ${mebibytes} MiB deleted → ${size} ${what}`,
      unit: "s",
      ours: ours.map((healed) => healed[of]),
      floor: floor.map((healed) => healed[of]),
      floorIs: "plain pods, replaced by hand",
    });
  return [figure("voters with all data", "whole"), figure("that serve", "serving")];
}

/** Takes both times in one go: until the cluster is whole, and on until everybody serves. */
async function heal(
  place: Place,
  voters: readonly Voter[],
  replace: (leader: Voter, lost: Voter) => Promise<void>,
): Promise<{ readonly voters: readonly Voter[]; readonly healed: Healed }> {
  const { leader, follower: lost } = await rolesOf(voters);
  const { raftIndex } = await leader.etcd.status();
  const seconds = await stopwatch();
  const [, whole] = await Promise.all([
    replace(leader, lost),
    place.untilWhole(name, size, { without: lost, through: leader.etcd, index: raftIndex }).then(seconds),
  ]);
  const healed = await place.untilVoters(name, size, { without: lost });
  return { voters: healed, healed: { whole, serving: seconds() } };
}

/** Random bytes, through all members at once. */
async function fill(voters: readonly Voter[], signal: AbortSignal, progress: Step): Promise<void> {
  const keys = Array.from({ length: (mebibytes * 1024 * 1024) / valueBytes }, (_, number) => `/large/${number}`);
  const all = keys.length;
  const write = async (etcd: EtcdMember): Promise<void> => {
    for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
      const [written, value] = [key, randomBytes(valueBytes)];
      const put = () => etcd.put(written, value, { deadline: writeWithinMs, signal }).catch(textOf);
      await until(`${written} to be written`, put, signal);
      progress.detail(`${all - keys.length} of ${all} keys written`);
    }
  };
  await Promise.all(
    Array.from({ length: writers }, (_, writer) => voters[writer % voters.length]).map(
      async (voter) => voter && write(voter.etcd),
    ),
  );
}

const seconds = (samples: readonly Healed[], of: keyof Healed): string => `${samples.at(-1)?.[of].toFixed(2)} s`;
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
