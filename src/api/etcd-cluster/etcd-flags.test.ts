// The flags that are refused are flags of etcd, spelt as etcd spells them.
import assert from "node:assert/strict";
import { it } from "node:test";
import { flagsOf } from "../../etcd/versions/flags.ts";
import { version } from "../../etcd/versions/version.ts";
import { dangerousFlags, fieldsOfFlags, flagName, operatorsFlags, variableOf } from "./etcd-flags.ts";

const known = new Set([2, 3, 4, 5, 6, 7].flatMap((minor) => [...flagsOf(version(`3.${minor}.0`))]));

it("every refused flag is one of some etcd", () => {
  // Not in the table of flags, because it replaces all of them.
  const refused = [...operatorsFlags, ...fieldsOfFlags.keys()].filter((flag) => flag !== "config-file");
  assert.deepEqual(
    refused.filter((flag) => !known.has(flag)),
    [],
  );
});

it("every flag that loses data is the operator's", () => {
  assert.deepEqual(
    dangerousFlags.filter((flag) => !operatorsFlags.includes(flag)),
    [],
  );
});

it("every flag of certificates and addresses is the operator's", () => {
  const own = [...known].filter((flag) =>
    /^(listen|advertise|initial-(advertise|cluster))|(cert|key|ca)-file$/.test(flag),
  );
  assert.deepEqual(
    own.filter((flag) => !operatorsFlags.includes(flag)),
    [],
  );
});

it("a flag is identified by its name, and has a variable", () => {
  assert.equal(flagName("--data-dir=/a=b"), "data-dir");
  assert.equal(flagName("-pre-vote"), "pre-vote");
  assert.equal(variableOf("data-dir"), "ETCD_DATA_DIR");
});
