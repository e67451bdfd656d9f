// The floor of `pod.ts`: the same lists, watches and lease renewals, with nothing kept and nothing guarded.
import { readFileSync } from "node:fs";
import { Bare, type BareAccess } from "../bare.ts";
import { podSettings } from "./settings.ts";

const { namespace, lease } = podSettings();
const renewEveryMs = 2_000;

/** Given by the benchmark on the host; in a pod, that of its service account. */
function access(): BareAccess {
  const given = process.env["BENCH_ACCESS"];
  if (given !== undefined) return JSON.parse(given) as BareAccess;
  const account = "/var/run/secrets/kubernetes.io/serviceaccount";
  return {
    server: `https://${process.env["KUBERNETES_SERVICE_HOST"]}:${process.env["KUBERNETES_SERVICE_PORT"]}`,
    ca: readFileSync(`${account}/ca.crt`, "utf8"),
    authorization: `Bearer ${readFileSync(`${account}/token`, "utf8")}`,
    userAgent: lease,
  };
}

async function main(): Promise<void> {
  const bare = new Bare(access());
  for (const plural of ["configmaps", "pods", "services"]) {
    const path = `/api/v1/namespaces/${namespace}/${plural}`;
    const { resourceVersion } = await bare.walk(path, 100);
    bare.watch(path, resourceVersion, () => undefined);
  }
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const spec = { holderIdentity: lease, leaseDurationSeconds: 15 };
  const object = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: lease }, spec };
  let answer = await bare.request("POST", leases, object);
  const renew = async (): Promise<void> => {
    if (answer.status > 299) throw new Error(`the lease could not be written: ${answer.status}`);
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    const renewed = { ...(answer.body as object), spec: { ...spec, renewTime } };
    answer = await bare.request("PUT", `${leases}/${lease}`, renewed);
  };
  setInterval(() => void renew(), renewEveryMs);
}

process.on("SIGTERM", () => process.exit(0));
void main();
