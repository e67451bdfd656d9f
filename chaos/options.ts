// What a person asks of `make chaos`, from the environment.
import { UsageError } from "../lab/config.ts";
import { changeNames, type ChangeName } from "./changes/list.ts";
import { faultNames, type FaultName } from "./faults/list.ts";

export interface ChaosOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly faults: readonly FaultName[];
  readonly changes: readonly ChangeName[];
  /** Whether docs/robustness.md is written from what is known now. */
  readonly page: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function chaosOptions(environment: Environment, newSeed: () => number): ChaosOptions {
  const { CHAOS_MINUTES: minutes = "5", CHAOS_SEED: seed, CHAOS_PAGE: page = "" } = environment;
  if (!(Number(minutes) > 0)) throw new UsageError(`CHAOS_MINUTES must be a number of minutes, not "${minutes}".`);
  if (seed !== undefined && !/^\d{1,9}$/.test(seed))
    throw new UsageError(`CHAOS_SEED must be a whole number of at most nine digits, not "${seed}".`);
  return {
    minutes: Number(minutes),
    seed: seed === undefined ? newSeed() : Number(seed),
    faults: namesIn("CHAOS_FAULTS", environment, faultNames),
    changes: namesIn("CHAOS_CHANGES", environment, changeNames),
    page: page !== "" && page !== "0",
  };
}

/** In the order of the list, whatever order they are given in: that belongs to the seed. */
function namesIn<Name extends string>(variable: string, environment: Environment, known: readonly Name[]): Name[] {
  const wanted = (environment[variable] ?? "").split(/[\s,]+/).filter((name) => name !== "");
  const unknown = wanted.filter((name) => !known.some((one) => one === name));
  if (unknown.length > 0)
    throw new UsageError(`${variable} does not know ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  return known.filter((name) => wanted.length === 0 || wanted.includes(name));
}

/** What to type to have the same again. */
export function sameAgain({ seed, minutes }: ChaosOptions, environment: Environment): string {
  const named = (["CHAOS_FAULTS", "CHAOS_CHANGES"] as const).flatMap((name) =>
    environment[name] === undefined ? [] : [`${name}='${environment[name]}'`],
  );
  return ["make chaos", `CHAOS_SEED=${seed}`, `CHAOS_MINUTES=${minutes}`, ...named].join(" ");
}
