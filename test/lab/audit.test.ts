// The audit log counts a client's requests exactly.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { auditEntries, auditMark, countRequests, settleAudit } from "../../lab/audit/audit.ts";
import { apiUrl } from "../../lab/control-plane/kubeconfig.ts";
import { pkiPath } from "../../lab/control-plane/pki.ts";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
import { kubectl, ownNamespace } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";

const lab = testLab();
const namespace = await ownNamespace("audit");
const user = `system:serviceaccount:${namespace}:default`;
const pods = `/api/v1/namespaces/${namespace}/pods`;
const token = (await kubectl("create", "token", "default", `--namespace=${namespace}`)).trim();

before(async () => {
  const subject = `--serviceaccount=${namespace}:default`;
  await kubectl("create", "rolebinding", "reader", "--clusterrole=view", subject, `--namespace=${namespace}`);
  // The API server learns of a binding by a watch of its own.
  await waitFor("the permissions of the reader", () => get(pods), { timeoutMs: 60_000 });
});

/** As the service account and nobody else: kubectl with a configuration of no one. */
const get = (path: string): Promise<string> =>
  run("kubectl", [
    "--kubeconfig=/dev/null",
    `--server=${apiUrl(lab)}`,
    `--certificate-authority=${pkiPath(lab, "ca.crt")}`,
    `--token=${token}`,
    "get",
    "--raw",
    path,
  ]);

test("requests between two moments are counted once each, watches where they start", async () => {
  await get(pods);
  await settleAudit(lab);
  const from = auditMark(lab);
  for (let i = 0; i < 3; i += 1) await get(pods);
  await get(`${pods}?watch=true&timeoutSeconds=1`);
  await assert.rejects(get(`${pods}/nobody`));
  await settleAudit(lab);
  const to = auditMark(lab);
  await get(pods);
  await settleAudit(lab);

  const own = (await auditEntries(lab, from, to)).filter((entry) => entry.user === user);
  assert.deepEqual(countRequests(own, ["verb", "resource", "code"]), [
    { of: ["list", "pods", "200"], count: 3 },
    { of: ["get", "pods", "404"], count: 1 },
    { of: ["watch", "pods", "200"], count: 1 },
  ]);
});

test("the command counts what the functions count", async () => {
  const command = (...args: string[]): Promise<string> =>
    run(process.execPath, ["lab/main.ts", "audit", ...args, `--name=${lab.name}`]);
  const since = (await command("mark")).trim();
  await get(`/api/v1/namespaces/${namespace}/configmaps`);
  const printed = await command("count", "--since", since, "--user", user, "--by", "verb,resource", "--json");
  assert.deepEqual(JSON.parse(printed), { verb: "list", resource: "configmaps", count: 1 });
});
