// Every world that a small cluster can reach with a few faults and one change, with the real stages that decide: what must
// never be is nowhere, and from everywhere there is a way back to what was asked for, or it is lost and says so.
// MATRIX=all searches all of them; else those that take a few seconds each.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { begins, inWords, searchFrom } from "./testing/small-worlds/scopes.ts";

const all = process.env["MATRIX"] === "all";

describe("in every world that a cluster reaches", () => {
  for (const begin of begins.filter(({ always }) => all || always === true))
    test(inWords(begin), (context) => {
      const { states, whole, lost, longest, violation } = searchFrom(begin);
      const shown = violation && [violation.what, ...violation.path].join("\n");
      assert.equal(shown, undefined);
      const ends = `${whole} of them at rest as asked for, ${lost} with their data lost`;
      context.diagnostic(`${states} states; ${ends}; at most ${longest} steps to one of these`);
    });
});
