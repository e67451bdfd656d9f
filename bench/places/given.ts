// Clusters whose certificates a person gives, from one CA, with the names that etcd-operator 0.9 documents; in the versions
// that differ in how a member knows its peers.
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { Secret } from "../../src/kube/objects/kinds.ts";
import { type Authority, makeAuthority, makeLeaf } from "../../src/tls/make.ts";
import type { KeyPair, SecretUse } from "../../src/tls/pem.ts";
import { writeBundle } from "../../src/tls/pem.ts";
import { etcdCluster } from "./operated.ts";
import type { Place } from "./place.ts";
import type { Reach, Voter } from "./voters.ts";

/** The oldest asks DNS who its peers are; each of the others has another name for not doing so. */
export const versionsWithGiven = ["3.2.13", "3.5.35", "3.6.16", "3.7.3"] as const;

interface Given {
  readonly spec: EtcdCluster["spec"];
  readonly reach: Reach;
}

/** Makes the Secrets that the cluster of this name is to use. They are there before it is: nobody waits for them. */
export async function giveCertificates(place: Place, name: string, version: string): Promise<Given> {
  const ca = await makeAuthority("company", Date.now());
  const base = `${name}.${place.namespace}.svc`;
  const names = [`*.${base}`, `*.${base}.cluster.local`];
  const leaf = (use: "both" | "client", of: readonly string[]): Promise<KeyPair> =>
    makeLeaf(ca, { commonName: "root", names: of, use }, Date.now());
  const [member, operator] = [await leaf("both", names), await leaf("client", [])];
  await put(place, `${name}-given-peer`, "peer", ca, member);
  await put(place, `${name}-given-server`, "server", ca, member);
  await put(place, `${name}-given-operator`, "etcd-client", ca, operator);
  const TLS = {
    static: {
      member: { peerSecret: `${name}-given-peer`, serverSecret: `${name}-given-server` },
      operatorSecret: `${name}-given-operator`,
    },
  };
  return {
    spec: { ...etcdCluster(place.key(name), 3).spec, version, TLS },
    reach: (address, pod) => ({
      url: `https://${address}:2379`,
      serverName: `${pod}.${base}`,
      tls: { ca: ca.cert, identity: operator },
    }),
  };
}

export async function makeGiven(place: Place, name: string, { spec, reach }: Given): Promise<readonly Voter[]> {
  await place.ground.api.create(EtcdCluster, { metadata: place.key(name), spec });
  return place.untilVoters(name, 3, { reach: () => Promise.resolve(reach) });
}

async function put(place: Place, name: string, use: SecretUse, ca: Authority, pair: KeyPair): Promise<void> {
  const stringData = writeBundle(use, { ca: ca.cert, pair });
  await place.ground.api.create(Secret, { metadata: place.key(name), stringData });
}
