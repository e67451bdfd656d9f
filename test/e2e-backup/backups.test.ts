// Backups and restores under a cluster-wide operator, with a real S3 server that the pods reach.
import { before, describe } from "node:test";
import { installOperator } from "../e2e/support/operator.ts";
import { disaster } from "./backups/disaster.ts";
import { killedWorkers } from "./backups/killed-workers.ts";
import { leftAlone } from "./backups/left-alone.ts";
import { newCluster } from "./backups/new-cluster.ts";
import { otherClusters } from "./backups/other-clusters.ts";
import { quotas } from "./backups/quotas.ts";
import { refusals } from "./backups/refusals.ts";
import { roundTrip } from "./backups/round-trip.ts";
import { series } from "./backups/series.ts";
import { stores } from "./backups/stores.ts";
import { type Bucket, startBucket } from "./support/bucket.ts";

// Three lanes keep two cores busy: some mostly wait.
describe("backups", { concurrency: 3 }, () => {
  let started: Bucket | undefined;
  const bucket = (): Bucket => {
    if (started === undefined) throw new Error("the bucket has not been started");
    return started;
  };
  before(async () => {
    [started] = await Promise.all([startBucket(), installOperator("clusterwide")]);
  });
  refusals(bucket);
  roundTrip(bucket);
  series();
  disaster(bucket);
  newCluster(bucket);
  stores();
  killedWorkers();
  leftAlone(bucket);
  otherClusters(bucket);
  quotas(bucket);
});
