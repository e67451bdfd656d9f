// What is done to a cluster that is held up: it is kept alive, and nothing about it is changed.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../assess/assess.ts";
import { plainText } from "../objects/tls.ts";
import { gone, three, voter } from "../testing/plan-table.ts";
import { type SampleWorld, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import type { ClusterAction } from "./actions.ts";
import type { KeepsAlive } from "./keep-alive.ts";
import { planCluster } from "./plan.ts";

const speaksTls = { tls: { ...plainText, peer: "tls", client: true } } as const;
const unguarded = (letter: string) => voter(letter, { pod: { guard: "open", labelled: false, ...speaksTls } });

/** Everything that could be done to it would be. */
const needy: SampleWorld = {
  size: 5,
  version: "3.6.16",
  spec: { TLS: { auto: true }, pod: { labels: { team: "shop" } } },
  members: [unguarded("a"), unguarded("b"), { ...gone("c"), claim: {} }],
  change: { peerService: undefined, clientService: undefined, budget: undefined },
};

const keepsAlive: Readonly<Record<KeepsAlive["do"], true>> = {
  guardPod: true,
  noteOnClaim: true,
  labelPod: true,
  applyService: true,
  makeCertificates: true,
  writeCertificate: true,
  noteTrust: true,
  renewFiles: true,
  markServing: true,
};
const isChange = ({ do: what }: ClusterAction): boolean => !(what in keepsAlive);

const planned = (sample: SampleWorld) => {
  const { guards, decisions, upkeep } = planCluster(assess(sampleWorld(sample), sampleNow), () => 0.5);
  return [...guards, ...decisions.flatMap(({ actions }) => actions), ...upkeep];
};

const ways: readonly (readonly [string, SampleWorld])[] = [
  ["a pause", { ...needy, spec: { ...needy.spec, paused: true } }],
  ["a spec that nobody can follow", { ...needy, change: { ...needy.change, problems: ["Mend it."] } }],
  ["leaders that disagree", { ...needy, members: [...three, voter("d", { follows: "d" })], rivals: ["a", "d"] }],
];

describe("a cluster that is held up is kept alive, and nothing about it is changed:", () => {
  for (const [why, sample] of ways) test(why, () => assert.deepEqual(planned(sample).filter(isChange), []));

  test("members are guarded and found, whoever paused it", () => {
    const [, sample] = ways[0] ?? [];
    assert.deepEqual(
      planned(sample ?? needy).map((action) => action.do),
      ["guardPod", "guardPod", "labelPod", "labelPod", "applyService", "makeCertificates", "makeCertificates"],
    );
  });

  test("the same cluster is changed when nothing holds it up", () => assert.ok(planned(needy).some(isChange)));

  test("of one that goes nothing is kept", () => {
    const world = sampleWorld(needy);
    const { cluster } = world;
    const metadata = { ...cluster.metadata, deletionTimestamp: "2026-01-31T11:59:59Z" };
    const { guards, upkeep } = planCluster(assess({ ...world, cluster: { ...cluster, metadata } }, sampleNow));
    assert.deepEqual([...guards, ...upkeep], []);
  });

  test("members that are stopped for a restore, or that answer as another cluster, are not written about", () => {
    for (const sample of [
      { ...needy, status: { restore: { name: "r", uid: "u", phase: "Stopping" } } },
      { ...needy, status: { clusterId: "1" } },
    ]) {
      const { guards } = planCluster(assess(sampleWorld(sample), sampleNow));
      assert.deepEqual(guards, []);
    }
  });
});
