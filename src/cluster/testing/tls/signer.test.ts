import assert from "node:assert/strict";
import { test } from "node:test";
import { requestFor } from "../../act/on-secrets.ts";
import { validityOf } from "../../../tls/validity.ts";
import { signerFor } from "./signer.ts";

test("a certificate that was made for another simulation late on a day is valid early on that day", async () => {
  const midnight = Date.parse("2026-02-01T00:00:00Z");
  const request = requestFor({ metadata: { name: "demo", namespace: "default", uid: "uid" } }, "client", []);
  const madeAt = async (now: number): Promise<readonly string[]> => {
    const signer = signerFor();
    const authority = await signer.makeAuthority("default demo-client-ca", now);
    return [authority.cert, (await signer.makeLeaf(authority, request, now)).cert];
  };
  const late = await madeAt(midnight + 20 * 3_600_000);
  const early = await madeAt(midnight);
  assert.deepEqual(early, late);
  for (const cert of early) assert.ok((validityOf(cert)?.notBefore ?? Number.NaN) <= midnight);
});
