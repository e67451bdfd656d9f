import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  heldForMs,
  heldScope,
  takeoverStep,
  type TakeoverStep,
  type UnclaimedFacts,
  untouchedForMs,
} from "./decide.ts";

const fresh: UnclaimedFacts = {
  scope: undefined,
  ageMs: untouchedForMs,
  heldMs: undefined,
  touched: false,
  operatorOfNamespace: "absent",
};
const held: UnclaimedFacts = { ...fresh, scope: heldScope, heldMs: heldForMs };

describe("an object without a scope annotation", () => {
  const table: readonly (readonly [string, UnclaimedFacts, TakeoverStep["do"]])[] = [
    ["is held when nobody touched it in time", fresh, "hold"],
    ["is given some time first", { ...fresh, ageMs: 0 }, "wait"],
    ["is left alone when somebody touched it", { ...fresh, touched: true }, "leave"],
    ["is left alone when it is touched at once", { ...fresh, touched: true, ageMs: 0 }, "leave"],
    ["is left alone where the namespace has an operator", { ...fresh, operatorOfNamespace: "present" }, "leave"],
    ["is left alone where that cannot be seen", { ...fresh, operatorOfNamespace: "unseen" }, "leave"],
    ["is left alone when it is annotated for nobody", { ...fresh, scope: "another" }, "leave"],
    ["that is held is taken", held, "take"],
    ["that is held is not taken before others can have seen it", { ...held, heldMs: heldForMs - 1 }, "wait"],
    ["that another leader held is waited for once more", { ...held, heldMs: undefined }, "wait"],
    ["that is held goes back to who touched it", { ...held, touched: true }, "giveBack"],
    ["that is held goes back where an operator came", { ...held, operatorOfNamespace: "present" }, "giveBack"],
    ["that is held goes back where that cannot be seen", { ...held, operatorOfNamespace: "unseen" }, "giveBack"],
  ];
  for (const [what, facts, expected] of table) test(what, () => assert.equal(takeoverStep(facts).do, expected));

  test("is never taken in one step: others must have seen that it is held", () => {
    for (const touched of [false, true])
      for (const operatorOfNamespace of ["absent", "present", "unseen"] as const)
        for (const heldMs of [undefined, 0, heldForMs, 10 * heldForMs])
          assert.notEqual(takeoverStep({ ...fresh, ageMs: 1e9, touched, operatorOfNamespace, heldMs }).do, "take");
  });

  test("that is left says why where a person may have to act", () => {
    const step = takeoverStep({ ...fresh, operatorOfNamespace: "present" });
    assert.match(
      step.do === "leave" ? (step.because ?? "") : "",
      /has the Lease of an operator of its own\b.* delete the Lease, or give it/,
    );
  });
});
