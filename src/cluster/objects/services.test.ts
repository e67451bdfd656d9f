import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleCluster } from "../testing/sample-world.ts";
import { clientService, peerService } from "./services.ts";

test("members find each other before they are ready, and clients find only those that are", () => {
  const [peer, client] = [peerService(sampleCluster({})).spec, clientService(sampleCluster({})).spec];
  assert.deepEqual([peer?.clusterIP, peer?.publishNotReadyAddresses], ["None", true]);
  assert.deepEqual([client?.clusterIP, client?.publishNotReadyAddresses], [undefined, undefined]);
  assert.deepEqual(
    [peer, client].map((spec) => spec?.ports?.map(({ port }) => port)),
    [[2379, 2380], [2379]],
  );
});
