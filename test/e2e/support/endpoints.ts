// How a test reaches the members of a cluster: as its pods speak. A member with TLS is reached with the certificate that is
// there for applications or, where there is none, with the operator's.
import { leanPod, observedPod } from "../../../src/cluster/observe/pods.ts";
import { decoded } from "../../../src/cluster/objects/secrets.ts";
import type { ClientTls, Endpoint } from "../../../src/etcd/members.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { type Pod, Secret } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { kube } from "./environment.ts";

/** By address. */
const known = new Map<string, Endpoint>();

export const endpointAt = (address: string): Endpoint => known.get(address) ?? { url: `http://${address}:2379` };

/** To be called with what was listed just now: pods come and go, and certificates are renewed. */
export async function learnEndpoints(key: Key, pods: readonly Pod[]): Promise<void> {
  const speaking = pods.filter((pod) => observedPod(leanPod(pod), undefined).tls.client);
  const tls = speaking.length === 0 ? undefined : await clientTlsOf(key);
  for (const { status } of pods) if (status?.podIP) known.delete(status.podIP);
  for (const { metadata, status } of speaking) {
    if (!status?.podIP || tls === undefined) continue;
    const serverName = `${metadata?.name}.${key.name}.${key.namespace}.svc`;
    known.set(status.podIP, { url: `https://${status.podIP}:2379`, serverName, tls });
  }
}

export async function clientTlsOf({ namespace, name }: Key): Promise<ClientTls | undefined> {
  for (const use of ["client", "operator"]) {
    const secret = await kube.get(Secret, { namespace, name: `${name}-${use}-tls` }).catch(unlessNotFound);
    if (secret === undefined) continue;
    const {
      "etcd-client.crt": cert = "",
      "etcd-client.key": key = "",
      "etcd-client-ca.crt": ca = "",
    } = decoded(secret);
    return { ca, identity: { cert, key } };
  }
  // Nobody manages it yet: what a person gave.
  const given = await kube.get(Secret, { namespace, name: "operator" }).catch(unlessNotFound);
  const {
    "etcd-client.crt": cert = "",
    "etcd-client.key": key = "",
    "etcd-client-ca.crt": ca = "",
  } = given ? decoded(given) : {};
  return cert === "" ? undefined : { ca, identity: { cert, key } };
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
