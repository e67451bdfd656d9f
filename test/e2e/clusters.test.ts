// EtcdClusters under a cluster-wide operator, each with a writer that never stops.
import { before, describe } from "node:test";
import { auth } from "./clusters/auth.ts";
import { lostWriteCheck } from "./clusters/lost-write-check.ts";
import { noSpace } from "./clusters/no-space.ts";
import { healing } from "./clusters/healing.ts";
import { joining } from "./clusters/joining.ts";
import { lifecycle } from "./clusters/lifecycle.ts";
import { loss } from "./clusters/loss.ts";
import { notCrashing } from "./clusters/not-crashing.ts";
import { onlyVoter } from "./clusters/only-voter.ts";
import { refusedServices } from "./clusters/refused-services.ts";
import { scaling } from "./clusters/scaling.ts";
import { settings } from "./clusters/settings.ts";
import { upkeep } from "./clusters/upkeep.ts";
import { versions } from "./clusters/versions.ts";
import { wiped } from "./clusters/wiped.ts";
import { installOperator } from "./support/operator.ts";

// Three lanes keep two cores busy. The longest is first, so that it does not run alone at the end.
describe("clusters", { concurrency: 3 }, () => {
  before(async () => {
    await installOperator("clusterwide");
  });
  lifecycle();
  lostWriteCheck();
  noSpace();
  auth();
  healing();
  joining();
  scaling();
  settings();
  upkeep();
  loss();
  wiped();
  versions();
  refusedServices();
  notCrashing();
  onlyVoter();
});
