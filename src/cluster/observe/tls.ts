// Certificates as they are found: what was given, what the operator keeps, and how it presents itself to members. Nothing is
// judged here.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { ClientTls } from "../../etcd/members.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import type { Secret } from "../../kube/objects/kinds.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { type Bundle, certificatesIn, readBundle } from "../../tls/pem.ts";
import { isProblem } from "../../tls/problem.ts";
import type { ClusterCaches } from "../context.ts";
import { type Reachable } from "../objects/endpoints.ts";
import { decoded, keyNamesOf, graceFromAnnotation } from "../objects/secrets.ts";
import {
  authorityUses,
  type AuthorityUse,
  givenSecrets,
  type GivenUse,
  leafUses,
  type LeafUse,
  rotateCaAnnotation,
  secretName,
  serverNameOf,
  signedBy,
  tlsOf,
} from "../objects/tls.ts";
import type { LookAt } from "./wire.ts";
import type { GivenSecret, KeptAuthority, KeptLeaf, MemberPod, TlsView } from "./world.ts";

const uses: readonly GivenUse[] = ["peer", "server", "operator"];

export async function observedTls(
  cluster: CompleteEtcdCluster,
  caches: Pick<ClusterCaches, "secrets" | "given">,
  api: KubeApi,
  signal: AbortSignal,
): Promise<Omit<TlsView, "presented">> {
  const { secrets } = caches;
  const own = (use: LeafUse | AuthorityUse): Secret | undefined => {
    const { namespace } = cluster.metadata;
    const secret = secrets?.get({ namespace, name: secretName(cluster, use) });
    return secret !== undefined && isControlledBy(secret, cluster) ? secret : undefined;
  };
  const given: Partial<Record<GivenUse, GivenSecret>> = {};
  const names = tlsOf(cluster).made ? undefined : givenSecrets(cluster);
  for (const use of uses)
    if (names !== undefined && names[use] !== "")
      given[use] = await givenSecret(cluster, names[use], caches, api, signal);
  const kept = Object.fromEntries(leafUses.flatMap((use) => present(use, leafOf(use, own(use)))));
  const authorities = Object.fromEntries(authorityUses.flatMap((use) => present(use, authorityOf(use, own(use)))));
  return { readable: secrets !== undefined, given, kept, authorities, identity: identityOf({ given, kept }) };
}

const present = <K, V>(key: K, value: V | undefined): [K, V][] => (value === undefined ? [] : [[key, value]]);

async function givenSecret(
  { metadata: { namespace } }: CompleteEtcdCluster,
  name: string,
  { given }: Pick<ClusterCaches, "given">,
  api: KubeApi,
  signal: AbortSignal,
): Promise<GivenSecret> {
  try {
    const secret = await given.read({ namespace, name }, api, signal);
    return secret === undefined ? { t: "absent", name } : { t: "there", name, data: decoded(secret) };
  } catch (error) {
    if (isForbidden(error)) return { t: "forbidden", name };
    throw error;
  }
}

/** What cannot be read counts for nothing: it is written anew. */
function leafOf(use: LeafUse, secret: Secret | undefined): KeptLeaf | undefined {
  const bundle = secret && readBundle(keyNamesOf(use), decoded(secret));
  if (secret === undefined || bundle === undefined || isProblem(bundle)) return undefined;
  return { bundle, graceFrom: Date.parse(secret.metadata?.annotations?.[graceFromAnnotation] ?? "") || 0 };
}

function authorityOf(use: AuthorityUse, secret: Secret | undefined): KeptAuthority | undefined {
  const data = secret ? decoded(secret) : {};
  const cert = data["ca.crt"] ?? "";
  if (secret === undefined || cert === "") return undefined;
  const leaves = signedBy[use].flatMap((leaf) => {
    const pair = { cert: data[`${leaf}.crt`] ?? "", key: data[`${leaf}.key`] ?? "" };
    return pair.cert === "" || pair.key === "" ? [] : [[leaf, pair] as const];
  });
  const rotated = secret.metadata?.annotations?.[rotateCaAnnotation];
  return { cert, leaves: Object.fromEntries(leaves), ...(rotated !== undefined && { rotated }) };
}

/** Before the operator has a copy of its own, what was given; that is so when it finds a cluster that has TLS already. */
function identityOf({ given, kept }: Pick<TlsView, "given" | "kept">): ClientTls | undefined {
  const { operator } = given;
  const read = operator?.t === "there" ? readBundle(keyNamesOf("operator"), operator.data) : undefined;
  const bundle = kept.operator?.bundle ?? (read === undefined || isProblem(read) ? undefined : read);
  return bundle && { ca: bundle.ca, identity: bundle.pair };
}

/** How a member is reached: by what its pod speaks. */
export function reachableAt(
  address: string,
  { name, tls }: Pick<MemberPod, "name" | "tls">,
  cluster: CompleteEtcdCluster,
  identity: ClientTls | undefined,
): Reachable {
  if (!tls.client) return { address };
  return { address, tls: { serverName: serverNameOf(cluster, name), identity } };
}

/** What to look for on the wire. Servers of older versions end the handshake of whom has no certificate. */
export function wireSides({ kept, identity }: Pick<TlsView, "kept" | "identity">): LookAt["sides"] {
  const { peer, server } = kept;
  return {
    ...(peer && { peer: { tls: dialling(peer.bundle), expected: leafFingerprint(peer.bundle) } }),
    ...(server && { client: { tls: identity, expected: leafFingerprint(server.bundle) } }),
  };
}

const dialling = ({ ca, pair }: Bundle): ClientTls => ({ ca, identity: pair });

/** As the wire shows it; empty when it cannot be read. */
export function leafFingerprint({ pair }: Bundle): string {
  return certificatesIn(pair.cert)?.[0].fingerprint256 ?? "";
}
