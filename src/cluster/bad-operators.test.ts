// Proves the provers: an operator with a mistake in it is caught by the small worlds or by generated histories, and for that
// mistake.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import * as path from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { badOperators } from "./testing/bad-operators/table.ts";

const folder = path.join(import.meta.dirname, "testing", "bad-operators");

interface Proof {
  readonly caught?: string;
  readonly after: number;
}

async function proofOf(name: string): Promise<Proof> {
  const program = ["--import", path.join(folder, "load.ts"), path.join(folder, "prove.ts")];
  const env = { ...process.env, BAD_OPERATOR: name };
  const { stdout } = await promisify(execFile)(process.execPath, program, { env, maxBuffer: 2 ** 26 });
  const proof: Proof = JSON.parse(stdout);
  return proof;
}

describe("an operator is caught that", () => {
  for (const { name, as, within, caughtBy } of badOperators)
    test(name, async (context) => {
      const { caught, after } = await proofOf(name);
      assert.ok(caught !== undefined, `not in ${after} ${caughtBy.t}`);
      assert.match(caught, as);
      const [found] = as.exec(caught) ?? [];
      assert.ok(after <= within, `after ${after}`);
      const unit = caughtBy.t === "smallWorlds" ? "worlds" : "histories";
      context.diagnostic(`after ${after} ${unit}: ${found}`);
    });
});
