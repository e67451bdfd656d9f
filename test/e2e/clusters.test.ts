// EtcdClusters under an operator that looks after all namespaces, each with a writer that goes on through everything.
import { before, describe } from "node:test";
import { healing } from "./clusters/healing.ts";
import { scaling } from "./clusters/scaling.ts";
import { installOperator } from "./support/operator.ts";

describe("clusters", { concurrency: 4 }, () => {
  before(async () => {
    await installOperator("clusterwide");
  });
  scaling();
  healing();
});
