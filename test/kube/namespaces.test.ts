// What a real API server refuses in a namespace that is not there or is being deleted. The in-memory twin has no namespaces.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connectKube } from "../../src/kube/client/client.ts";
import { findCredentials } from "../../src/kube/credentials/find-credentials.ts";
import { ConfigMap, Namespace } from "../../src/kube/objects/kinds.ts";
import { gone, refused } from "../../src/kube/testing/contract/ground.ts";
import { kubeconfig } from "./kubeconfig.ts";

const finalizer = "contract.test.invalid/hold";

test("nothing is created in a namespace that is not there, or is being deleted, and all that is in it goes", async () => {
  using api = connectKube({ credentials: await findCredentials(kubeconfig()) });
  const nowhere = { namespace: "contract-no-such-namespace", name: "a" };
  await refused(api.create(ConfigMap, { metadata: nowhere }), 404, "NotFound");
  const made = await api.create(Namespace, { metadata: { generateName: "contract-going-" } });
  const name = made.metadata?.name ?? "";
  await api.create(ConfigMap, { metadata: { namespace: name, name: "held", finalizers: [finalizer] } });
  await api.create(ConfigMap, { metadata: { namespace: name, name: "free" } });
  await api.delete(Namespace, { namespace: "", name });
  const error = await refused(api.create(ConfigMap, { metadata: { namespace: name, name: "late" } }), 403, "Forbidden");
  assert.ok(error.causes.some((cause) => cause.reason === "NamespaceTerminating"));
  await gone(api, ConfigMap, { namespace: name, name: "free" });
  await api.mergePatch(ConfigMap, { namespace: name, name: "held" }, { metadata: { finalizers: null } });
  await gone(api, ConfigMap, { namespace: name, name: "held" });
});
