// What a bad operator's process does: the prover that must catch it, and what came of that as a line of JSON.
import * as fc from "fast-check";
import { histories, Play } from "../history.ts";
import { searchFrom } from "../small-worlds/scopes.ts";
import { badOperators, type Prover } from "./table.ts";

export interface Proof {
  /** What it was caught for; undefined: it was not. */
  readonly caught: string | undefined;
  /** After that many worlds or histories. */
  readonly after: number;
}

async function prove(prover: Prover, most: number): Promise<Proof> {
  if (prover.t === "smallWorlds") {
    const { violation, states } = searchFrom(prover.begin);
    return { caught: violation?.what, after: states };
  }
  const property = fc.asyncProperty(histories({ sorts: prover.sorts }), async (history) => {
    await using played = await Play.of(history, true);
    await played.play(history);
    await played.comeToRest();
  });
  const { failed, numRuns, errorInstance } = await fc.check(property, { numRuns: most, seed: 1, endOnFailure: true });
  return { caught: failed ? String(errorInstance) : undefined, after: numRuns };
}

const bad = badOperators.find(({ name }) => name === process.env["BAD_OPERATOR"]);
if (bad === undefined) throw new RangeError("there is no such operator");
process.stdout.write(JSON.stringify(await prove(bad.caughtBy, bad.within)));
