import assert from "node:assert/strict";
import { test } from "node:test";
import { liesIn } from "./addresses.ts";

const cases: { destination: string; inside: boolean; why: string }[] = [
  { destination: "10.99.0.0/24", inside: true, why: "a network inside the range" },
  { destination: "10.99.200.7", inside: true, why: "a route to one host" },
  { destination: "10.99.0.0/16", inside: true, why: "the range itself" },
  { destination: "10.98.0.0/16", inside: false, why: "the neighbour" },
  { destination: "10.0.0.0/8", inside: false, why: "a wider network, of which the lab only takes a part" },
  { destination: "default", inside: false, why: "the way to everywhere" },
];

for (const { destination, inside, why } of cases)
  test(`a route to ${destination} (${why}) ${inside ? "stands" : "does not stand"} in the way of 10.99.0.0/16`, () => {
    assert.equal(liesIn("10.99", destination), inside);
  });
