// Every alert under its real fault, in groups that share clusters. The operator's own faults come last: nobody manages the
// clusters meanwhile.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { patience } from "../support/environment.ts";
import { Prometheus } from "../support/prometheus.ts";
import { backupFaults } from "./backups.ts";
import { certificateFaults } from "./certificates.ts";
import { changeFaults } from "./changes.ts";
import { databaseFaults } from "./database.ts";
import { diskFaults } from "./disk.ts";
import { realFaults } from "./faults.ts";
import { operatorFaults } from "./operator.ts";
import { Proof } from "./proof.ts";
import { rulesWith, shortened } from "./shortened.ts";
import type { Stage } from "./stage.ts";

/** `shown`: what was shown before. */
export function everyAlert(ground: () => Omit<Stage, "proof">, shown: () => readonly string[]): void {
  describe("every alert", { concurrency: 1 }, () => {
    let prometheus: Prometheus | undefined;
    const proof = new Proof(() => prometheus ?? assert.fail("no Prometheus runs"));
    const the = (): Stage => ({ ...ground(), proof });
    before(async () => {
      const { operator, namespace, plain } = ground();
      const namespaces = [operator.namespace, namespace] as const;
      const server = await Prometheus.start({ namespaces, rules: rulesWith(shortened) });
      prometheus = server;
      // What happens before the first scrape is never seen.
      const seen = `count(etcd_server_has_leader{namespace="${namespace}",etcd_cluster="${plain.name}"}) == 3`;
      await waitFor("the members to be scraped", async () => (await server.query(seen)).length > 0 || undefined, {
        timeoutMs: patience,
        lastSeen: () => server.lastWords,
      });
    });
    after(() => prometheus?.[Symbol.asyncDispose]());

    describe("fires under its fault and clears after it", { concurrency: 3 }, () => {
      backupFaults(the);
      changeFaults(the);
      certificateFaults(the);
      databaseFaults(the);
      diskFaults(the);
    });
    operatorFaults(the);

    test("was shown, of those that the table names", () => {
      assert.deepEqual([...new Set([...shown(), ...proof.shown])].sort(), Object.keys(realFaults).sort());
    });
  });
}
