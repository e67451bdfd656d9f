// Rolling changes of versions and settings under a cluster-wide operator, each cluster with a writer that never stops.
import { before, describe } from "node:test";
import { installOperator, type Operator } from "../e2e/support/operator.ts";
import { configuration } from "./rolls/configuration.ts";
import { disturbed } from "./rolls/disturbed.ts";
import { inherited } from "./rolls/inherited.ts";
import { onDelete } from "./rolls/on-delete.ts";
import { refusals } from "./rolls/refusals.ts";
import { upgrades } from "./rolls/upgrades.ts";
import { webhooks } from "./rolls/webhooks.ts";

// Three lanes keep two cores busy. The longest are first, so that they do not run alone at the end.
describe("rolls", { concurrency: 3 }, () => {
  let operator: Operator;
  before(async () => {
    operator = await installOperator("clusterwide");
  });
  upgrades();
  configuration(() => operator);
  disturbed();
  inherited();
  refusals();
  onDelete();
  webhooks();
});
