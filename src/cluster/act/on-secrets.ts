// What is done to the operator's Secrets, and what pods are told about certificates. Keys are made here, at the moment at
// which they are written: nothing that is logged ever holds one.
import { isIP } from "node:net";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { isAlreadyExists } from "../../kube/client/errors.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { Pod, Secret } from "../../kube/objects/kinds.ts";
import { keyOf, secondsTime } from "../../kube/objects/objects.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { checkParts } from "../../tls/check.ts";
import type { Authority, LeafRequest } from "../../tls/make.ts";
import type { KeyPair } from "../../tls/pem.ts";
import { namesFor } from "../assess/certificates/certificate-names.ts";
import { isInUse, madeFor } from "../assess/certificates/wanted-certificates.ts";
import {
  type AuthorityContent,
  authorityIn,
  authoritySecret,
  broughtInto,
  decoded,
  leafSecret,
  previousPrefix,
} from "../objects/secrets.ts";
import {
  type AuthorityUse,
  type LeafUse,
  renewedAnnotation,
  rotateCaAnnotation,
  secretName,
  servingGate,
  signedBy,
  trustAnnotations,
} from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import { type ClusterExecution, patchPod } from "./execution.ts";
import { requireOwn } from "./on-kube.ts";
import { delays } from "../../controllers/delays.ts";
import { NotYet } from "../../controllers/obstacle.ts";

/**
 * The Secret is read live: the cache has no key that signs. Should the operator die after the keys were made and before
 * they are written, nobody has ever used them.
 */
export async function makeCertificates(
  execution: ClusterExecution,
  action: ActionOf<"makeCertificates">,
): Promise<void> {
  const { cluster } = execution;
  const { authority: use, what, by } = action;
  const live = await liveSecret(execution, secretName(cluster, use));
  if (what !== "authority" && live === undefined)
    throw new NotYet(`the Secret ${secretName(cluster, use)} has changed since it was read`, delays.cacheIsBehind);
  const known = live && signingContent(use, live);
  const content =
    known === undefined || what === "authority"
      ? await newContent(execution, use, known)
      : await changedContent(execution, known, what, by);
  await write(execution, authoritySecret(cluster, use, content), live);
}

async function newContent(
  execution: ClusterExecution,
  use: AuthorityUse,
  known: AuthorityContent | undefined,
): Promise<AuthorityContent> {
  const { cluster, context } = execution;
  const name = `${cluster.metadata.namespace} ${secretName(cluster, use)}`;
  const authority = await context.signer.makeAuthority(name, context.now());
  const rotated = cluster.metadata.annotations?.[rotateCaAnnotation];
  const leaves = await signedLeaves(execution, authority, signedBy[use]);
  return { authority, leaves, previous: known && previousOf(execution, use, known), rotated };
}

/** The one that signed what is in use: another CA was perhaps asked for before members trusted the last. */
function previousOf(
  { assessment: { world } }: ClusterExecution,
  use: AuthorityUse,
  { previous, ...current }: AuthorityContent,
): AuthorityContent["previous"] {
  return previous !== undefined && isInUse(world, use, previous.authority.cert) ? previous : current;
}

/** Only what is due; the rest as it is. */
async function changedContent(
  execution: ClusterExecution,
  { previous, ...known }: AuthorityContent,
  what: "withoutPrevious" | readonly LeafUse[],
  by: "previous" | undefined,
): Promise<AuthorityContent> {
  if (what === "withoutPrevious") return known;
  const signer = by === "previous" ? previous : known;
  if (signer === undefined) throw new NotYet("the previous CA is no longer kept", delays.cacheIsBehind);
  const leaves = { ...signer.leaves, ...(await signedLeaves(execution, signer.authority, what)) };
  return by === "previous" ? { ...known, previous: { ...signer, leaves } } : { ...known, leaves, previous };
}

async function signedLeaves(
  { assessment, cluster, context }: ClusterExecution,
  authority: Authority,
  due: readonly LeafUse[],
): Promise<Partial<Record<LeafUse, KeyPair>>> {
  const world = { ...assessment.world, cluster };
  const sign = (use: LeafUse) =>
    context.signer.makeLeaf(authority, requestFor(cluster, use, namesFor(world, use)), context.now());
  return Object.fromEntries(await Promise.all(due.map(async (use) => [use, await sign(use)] as const)));
}

export function requestFor(
  { metadata }: Pick<CompleteEtcdCluster, "metadata">,
  use: LeafUse,
  covered: readonly string[],
): LeafRequest {
  const names = covered.filter((name) => isIP(name) === 0);
  const ips = covered.filter((name) => isIP(name) !== 0);
  return { commonName: commonNames[use](metadata.name), names, ips, use: madeFor[use] };
}

/** Where etcd's own authentication is on, a client is the user that its certificate names. */
const commonNames: Readonly<Record<LeafUse, (cluster: string) => string>> = {
  peer: (cluster) => `${cluster}-peer`,
  server: (cluster) => `${cluster}-server`,
  operator: () => "root",
  client: (cluster) => `${cluster}-client`,
};

/** Undefined where it cannot sign any more: then another CA takes over, and this one is trusted until it has. */
function signingContent(use: AuthorityUse, secret: Secret): AuthorityContent | undefined {
  const data = decoded(secret);
  const read = (prefix: string): AuthorityContent["previous"] => {
    const { cert, key, leaves } = authorityIn(use, data, prefix) ?? { cert: "", key: "", leaves: {} };
    return checkParts({ ca: cert, pair: { cert, key } }) === undefined
      ? { authority: { cert, key }, leaves }
      : undefined;
  };
  const [current, previous] = [read(""), read(previousPrefix)];
  const rotated = secret.metadata?.annotations?.[rotateCaAnnotation];
  return current && { ...current, previous, rotated };
}

export async function writeCertificate(
  execution: ClusterExecution,
  { use }: ActionOf<"writeCertificate">,
): Promise<void> {
  const { assessment, cluster, context } = execution;
  const wanted = assessment.certificates.writes.get(use);
  if (wanted === undefined) throw new NotYet(`there is nothing to write for ${use}`);
  const secret = leafSecret(cluster, use, wanted.bundle, wanted.graceFrom);
  const known = context.caches(cluster.metadata.namespace).secrets?.get(keyOf(secret));
  await write(execution, secret, known !== undefined && isControlledBy(known, cluster) ? known : undefined);
}

/** Over exactly what the decision was made from; what belongs to somebody else is not touched. */
async function write(
  { cluster, reconcile }: ClusterExecution,
  secret: Secret,
  before: Secret | undefined,
): Promise<void> {
  if (before !== undefined) {
    await reconcile.api.replace(Secret, broughtInto(before, secret), { fieldManager });
    return;
  }
  try {
    await reconcile.api.create(Secret, secret, { fieldManager });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    requireOwn(Secret, await reconcile.api.get(Secret, keyOf(secret)), cluster);
    throw new NotYet(`the Secret ${keyOf(secret).name} was there already`, delays.cacheIsBehind);
  }
}

async function liveSecret({ cluster, reconcile }: ClusterExecution, name: string): Promise<Secret | undefined> {
  const secret = await getOrUndefined(reconcile.api, Secret, { namespace: cluster.metadata.namespace, name });
  return secret !== undefined && isControlledBy(secret, cluster) ? secret : undefined;
}

export async function noteTrust(
  execution: ClusterExecution,
  { member, uid, tls }: ActionOf<"noteTrust">,
): Promise<void> {
  await patchPod(execution, { name: member, uid }, { annotations: trustAnnotations(tls) });
}

export async function renewFiles(
  execution: ClusterExecution,
  { member, uid, leaves }: ActionOf<"renewFiles">,
): Promise<void> {
  await patchPod(execution, { name: member, uid }, { annotations: { [renewedAnnotation]: leaves } });
}

/** Only this condition: the others are the kubelet's. */
export async function markServing(
  { reconcile, cluster, context }: ClusterExecution,
  action: ActionOf<"markServing">,
): Promise<void> {
  const { namespace } = cluster.metadata;
  const { member: name, uid } = action;
  const lastTransitionTime = secondsTime(new Date(context.now()));
  const condition = { type: servingGate, status: "True", reason: "Serves", lastTransitionTime };
  await reconcile.api.apply(
    Pod,
    { metadata: { namespace, name, uid }, status: { conditions: [condition] } },
    { subresource: "status", fieldManager, force: true },
  );
}
