// From a seed to rounds: which fault meets which change, when, and at what kind of cluster. The same seed and names give the
// same rounds; how many of them are run depends on the time.
import { type ChangeName, changes, type EtcdVersion, etcdVersions, fewestMembers } from "./changes/list.ts";
import { type FaultName, faults } from "./faults/list.ts";
import { Random } from "./random.ts";

export interface Round {
  /** From 1. */
  readonly number: number;
  readonly fault: FaultName;
  readonly change: ChangeName;
  /** With certificates that the operator makes, and etcd's authentication. */
  readonly secured: boolean;
  readonly onVolumes: boolean;
  readonly size: number;
  readonly version: EtcdVersion;
  /** For how long clients write. */
  readonly seconds: number;
  /** After they began. */
  readonly faultAt: number;
  readonly faultLasts: number;
  readonly changeAt: number;
  /** The seed of what clients ask for. */
  readonly trafficSeed: number;
  /** Which of several members, from 0 to 1. */
  readonly victim: number;
}

export interface ScheduleOptions {
  readonly seed: number;
  readonly faults: readonly FaultName[];
  readonly changes: readonly ChangeName[];
}

/** Whether a cluster has to survive both at once. A lone member that is deleted takes the data with it, whoever looks after it. */
export function fits(fault: FaultName, change: ChangeName): boolean {
  const { members, losesData, onVolumes, waitsForOperator } = faults[fault];
  const fewest = fewestMembers(change);
  // A restore meets the fault with all members or none of them there; what it must not lose is the one that has the data.
  const enough = changes[change].afterTraffic === true ? losesData !== true : fewest >= members;
  if (waitsForOperator === true && changes[change].holdsOperator === true) return false;
  return enough && !(onVolumes === true && changes[change].withoutVolumes === true);
}

/** Every fault once, in an order of its own, then again; each with the next change that it can meet. */
export function* schedule(options: ScheduleOptions): Generator<Round, never> {
  const orders = new Random(options.seed, 1);
  const numbers = new Random(options.seed, 2);
  const possible = options.faults.filter((fault) => options.changes.some((change) => fits(fault, change)));
  if (possible.length === 0)
    throw new Error(`None of the faults ${options.faults.join(", ")} fits ${options.changes.join(", ")}.`);
  let waiting: ChangeName[] = [];
  let secured = numbers.next() < 0.5;
  for (let number = 1; ; ) {
    for (const fault of orders.shuffled(possible)) {
      if (!waiting.some((change) => fits(fault, change))) waiting = [...waiting, ...orders.shuffled(options.changes)];
      const [change = "none"] = waiting.splice(
        waiting.findIndex((one) => fits(fault, one)),
        1,
      );
      secured = changes[change].secured ?? !secured;
      yield drawn(number, { fault, change, secured }, numbers);
      number += 1;
    }
  }
}

function drawn(number: number, chosen: Pick<Round, "fault" | "change" | "secured">, random: Random): Round {
  const { sizes, versions } = changes[chosen.change];
  // Always as many numbers, so that a round does not depend on what those before it are.
  const [any, faultAt, lasts, changeBefore, seed, victim] = Array.from({ length: 6 }, () => random.next());
  const rounded = (value: number): number => Math.round(value * 10) / 10;
  const at = rounded(4 + 1.5 * (faultAt ?? 0));
  const faultLasts = rounded(3 + 3 * (lasts ?? 0));
  return {
    number,
    ...chosen,
    onVolumes: faults[chosen.fault].onVolumes === true,
    size: sizes?.[0] ?? 3,
    version: versions?.[0] ?? etcdVersions[Math.floor((any ?? 0) * etcdVersions.length)] ?? "3.6.16",
    seconds: rounded(at + faultLasts + 5),
    faultAt: at,
    faultLasts,
    changeAt: rounded(at + 1 - 3 * (changeBefore ?? 0)),
    trafficSeed: Math.floor((seed ?? 0) * 2 ** 31),
    victim: victim ?? 0,
  };
}

export function textOf(round: Round): string {
  const kind = [
    `etcd ${round.version}`,
    ...(round.size === 3 ? [] : [`${round.size} members`]),
    ...(round.secured ? ["TLS and a login"] : []),
    ...(round.onVolumes ? ["volumes"] : []),
  ];
  return `${round.number}: ${round.fault} × ${round.change} (${kind.join(", ")})`;
}
