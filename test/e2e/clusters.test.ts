// EtcdClusters under an operator that looks after all namespaces, each with a writer that goes on through everything.
import { before, describe } from "node:test";
import { checking } from "./clusters/checking.ts";
import { filling } from "./clusters/filling.ts";
import { healing } from "./clusters/healing.ts";
import { joining } from "./clusters/joining.ts";
import { lifetime } from "./clusters/lifetime.ts";
import { losing } from "./clusters/losing.ts";
import { notCrashing } from "./clusters/not-crashing.ts";
import { onlyVoter } from "./clusters/only-voter.ts";
import { refusedServices } from "./clusters/refused-services.ts";
import { scaling } from "./clusters/scaling.ts";
import { settings } from "./clusters/settings.ts";
import { upkeep } from "./clusters/upkeep.ts";
import { versions } from "./clusters/versions.ts";
import { wiped } from "./clusters/wiped.ts";
import { installOperator } from "./support/operator.ts";

// Three at once keep two cores busy; what each holds runs one after another. The longest is first, so that it is not waited
// for alone at the end.
describe("clusters", { concurrency: 3 }, () => {
  before(async () => {
    await installOperator("clusterwide");
  });
  lifetime();
  checking();
  filling();
  healing();
  joining();
  scaling();
  settings();
  upkeep();
  losing();
  wiped();
  versions();
  refusedServices();
  notCrashing();
  onlyVoter();
});
