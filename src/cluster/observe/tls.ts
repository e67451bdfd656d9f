// Certificates as they are found: what was given, what the operator keeps, and how it presents itself to members. Nothing is
// judged here but whether a Secret can be used at all: one that cannot is a fact like any other, and ends nothing.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { ClientTls } from "../../etcd/members.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { ApiError, isForbidden } from "../../kube/client/errors.ts";
import type { Secret } from "../../kube/objects/kinds.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { addToBundle } from "../../tls/ca-bundle.ts";
import { checkParts } from "../../tls/check.ts";
import { type Bundle, certificatesIn, readBundle, type SecretUse as KeyNames } from "../../tls/pem.ts";
import { isProblem, type Problem, type ProblemKind } from "../../tls/problem.ts";
import { TransportError } from "../../transport/errors.ts";
import type { ClusterCaches } from "../context.ts";
import { type Reachable } from "../objects/endpoints.ts";
import { authorityIn, decoded, keyNamesOf, graceFromAnnotation, previousPrefix } from "../objects/secrets.ts";
import {
  authorityUses,
  type AuthorityUse,
  givenSecrets,
  type GivenUse,
  leafUses,
  type LeafUse,
  rotateCaAnnotation,
  secretName,
  type SecretUse,
  serverNameOf,
  tlsOf,
} from "../objects/tls.ts";
import type { WireRead } from "./wire.ts";
import type { Damage, GivenSecret, KeptAuthority, KeptLeaf, MemberPod, TlsView } from "./world.ts";

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
  const kept: Partial<Record<LeafUse, KeptLeaf>> = {};
  const authorities: Partial<Record<AuthorityUse, KeptAuthority>> = {};
  const damaged: Partial<Record<SecretUse, Damage>> = {};
  for (const use of leafUses) {
    const leaf = leafOf(use, own(use));
    if (leaf === undefined) continue;
    if (isDamage(leaf)) damaged[use] = leaf;
    else kept[use] = leaf;
  }
  for (const use of authorityUses) {
    const authority = authorityOf(use, own(use));
    if (authority === undefined) continue;
    if (isDamage(authority)) damaged[use] = authority;
    else authorities[use] = authority;
  }
  const identity = identityOf({ given, kept, authorities });
  return { readable: secrets !== undefined, given, kept, authorities, damaged, identity };
}

const isDamage = (found: object): found is Damage => "why" in found;

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
    // As one that the API server cannot decrypt any more: every other one is still to be managed.
    if (error instanceof ApiError || error instanceof TransportError) return { t: "unread", name, why: error.message };
    throw error;
  }
}

function leafOf(use: LeafUse, secret: Secret | undefined): KeptLeaf | Damage | undefined {
  if (secret === undefined) return undefined;
  const data = decoded(secret);
  const bundle = ownBundle(keyNamesOf(use), data);
  const problem = isProblem(bundle) ? bundle : checkParts(bundle);
  if (isProblem(bundle) || problem !== undefined) {
    const ca = readableIn(data[`${keyNamesOf(use)}-ca.crt`] ?? "");
    return { why: damages[problem?.t ?? "unreadable"] ?? "it cannot be read", ...(ca !== "" && { ca }) };
  }
  if (use === "client" && !isSameInUsualNames(bundle, data))
    return { why: "tls.crt, tls.key and ca.crt are not those that the operator wrote", ca: bundle.ca };
  return { bundle, graceFrom: Date.parse(secret.metadata?.annotations?.[graceFromAnnotation] ?? "") || 0 };
}

/** Under the names that pods mount: whatever else somebody has put beside them. */
function ownBundle(use: KeyNames, data: Readonly<Record<string, string>>): Bundle | Problem {
  return readBundle(use, Object.fromEntries(Object.entries(data).filter(([name]) => name.startsWith(use))));
}

/** Applications may read either. */
const isSameInUsualNames = ({ ca, pair }: Bundle, data: Readonly<Record<string, string>>): boolean =>
  data["tls.crt"] === pair.cert && data["tls.key"] === pair.key && data["ca.crt"] === ca;

const damages: Partial<Readonly<Record<ProblemKind, string>>> = {
  missing: "a part of it is missing",
  incomplete: "a part of it is missing",
  mismatched: "its key does not belong to its certificate",
};

/** Those certificates of a CA bundle that can be read: whoever trusts them is still trusted when it is repaired. */
function readableIn(ca: string): string {
  const blocks = ca.split(/(?<=-----END CERTIFICATE-----)/);
  return blocks.filter((block) => certificatesIn(block) !== undefined).reduce(addToBundle, "");
}

function authorityOf(use: AuthorityUse, secret: Secret | undefined): KeptAuthority | Damage | undefined {
  if (secret === undefined) return undefined;
  const data = decoded(secret);
  const current = authorityIn(use, data);
  if (current === undefined) return { why: "its certificate is missing" };
  if (certificatesIn(current.cert) === undefined) return { why: "its certificate cannot be read" };
  const previous = authorityIn(use, data, previousPrefix);
  const rotated = secret.metadata?.annotations?.[rotateCaAnnotation];
  return {
    cert: current.cert,
    leaves: wholeLeaves(current),
    ...(previous && { previous: { cert: previous.cert, leaves: wholeLeaves(previous) } }),
    ...(rotated !== undefined && { rotated }),
  };
}

/** Without those that somebody damaged. */
const wholeLeaves = ({ cert: ca, leaves }: Pick<KeptAuthority, "cert" | "leaves">): KeptAuthority["leaves"] =>
  Object.fromEntries(Object.entries(leaves).filter(([, pair]) => checkParts({ ca, pair }) === undefined));

/**
 * Before the operator has a copy of its own, what was given; that is so when it finds a cluster that has TLS already. Where
 * its copy is damaged, what it was copied from.
 */
function identityOf({ given, kept, authorities }: Pick<TlsView, "given" | "kept" | "authorities">) {
  const bundle = kept.operator?.bundle ?? givenOperator(given.operator) ?? madeOperator(authorities["client-ca"]);
  return bundle && { ca: bundle.ca, identity: bundle.pair };
}

function madeOperator(authority: KeptAuthority | undefined): Bundle | undefined {
  const pair = authority?.leaves.operator;
  return authority && pair && { ca: authority.cert, pair };
}

function givenOperator(secret: GivenSecret | undefined): Bundle | undefined {
  const bundle = secret?.t === "there" ? readBundle(keyNamesOf("operator"), secret.data) : undefined;
  if (bundle === undefined || isProblem(bundle)) return undefined;
  return checkParts(bundle) === undefined ? bundle : undefined;
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
export function wireSides({ kept, identity }: Pick<TlsView, "kept" | "identity">): WireRead["sides"] {
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
