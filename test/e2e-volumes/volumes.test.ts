// Members with volumes of their own under a cluster-wide operator, each cluster with a writer that never stops.
import { before, describe } from "node:test";
import { installOperator } from "../e2e/support/operator.ts";
import { allPods } from "./volumes/all-pods.ts";
import { classes } from "./volumes/classes.ts";
import { growth } from "./volumes/growth.ts";
import { inherited } from "./volumes/inherited.ts";
import { lost } from "./volumes/lost.ts";
import { pressure } from "./volumes/pressure.ts";
import { retention } from "./volumes/retention.ts";
import { settings } from "./volumes/settings.ts";

// Three lanes keep two cores busy: some mostly wait. The longest are first, so that they do not run alone at the end.
describe("volumes", { concurrency: 3 }, () => {
  before(async () => {
    await installOperator("clusterwide");
  });
  pressure();
  lost();
  growth();
  classes();
  settings();
  retention();
  allPods();
  inherited();
});
