import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../assess/assess.ts";
import { memberUrl } from "../objects/endpoints.ts";
import { type SampleMember, type SampleWorld, sampleId, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { executionOf, voterToAsk } from "./execution.ts";
import { NotYet } from "../../controllers/obstacle.ts";

const at = (letter: string, more: Partial<SampleMember> = {}): SampleMember => ({
  letter,
  pod: { address: `10.0.0.${letter}` },
  ...more,
});
const members = [at("a"), at("b"), at("c")];

/** The letter of the one that is asked to change the members. */
function asked(sample: SampleWorld, without?: string): string {
  const context = { members: { at: ({ url }: { url: string }) => url }, logins: { known: () => undefined } };
  const execution = executionOf(assess(sampleWorld(sample), sampleNow), {} as never, context as never);
  const url: unknown = voterToAsk(execution, without === undefined ? undefined : sampleId(without));
  return "abc".split("").find((letter) => url === memberUrl(`10.0.0.${letter}`)) ?? "nobody";
}

const table: [string, SampleWorld, string | undefined, string][] = [
  ["the leader is asked", { leader: "b", members }, undefined, "b"],
  ["another is asked to remove the leader", { leader: "b", members }, "b", "a"],
  ["the leader is asked to remove another", { leader: "b", members }, "a", "b"],
  [
    "one that does not answer is not asked",
    { members: [at("a", { silent: true }), ...members.slice(1)] },
    undefined,
    "b",
  ],
  ["a learner is not asked", { leader: "c", members: [at("a", { learner: true }), at("b"), at("c")] }, "c", "b"],
  [
    "one without an address is not asked",
    { members: [at("a", { pod: { address: undefined } }), ...members.slice(1)] },
    undefined,
    "b",
  ],
];
for (const [what, sample, without, wanted] of table) test(what, () => assert.equal(asked(sample, without), wanted));

test("nobody is asked without a quorum, nor when the only one is to go", () => {
  assert.throws(() => asked({ etcd: "noQuorum", members }), NotYet);
  assert.throws(() => asked({ size: 1, members: [at("a")] }, "a"), NotYet);
});
