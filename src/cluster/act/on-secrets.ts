// What is done to the operator's Secrets, and what pods are told about certificates. Keys are made here, at the moment at
// which they are written: nothing that is logged ever holds one.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { isAlreadyExists, isNotFound } from "../../kube/client/errors.ts";
import { Pod, Secret } from "../../kube/objects/kinds.ts";
import { keyOf, secondsTime } from "../../kube/objects/objects.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import type { Authority, LeafRequest } from "../../tls/make.ts";
import type { KeyPair } from "../../tls/pem.ts";
import { madeFor, namesFor } from "../assess/wanted-certificates.ts";
import { authoritySecret, decoded, leafSecret } from "../objects/secrets.ts";
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
import type { Execution } from "./execution.ts";
import { requireOwn } from "./on-kube.ts";
import { NotYet, whileCacheIsBehindMs } from "./outcome.ts";

/**
 * The Secret is read live: the cache has no key that signs. Should the operator die after the keys were made and before
 * they are written, nobody has ever used them.
 */
export async function makeCertificates(execution: Execution, action: ActionOf<"makeCertificates">): Promise<void> {
  const { cluster, context } = execution;
  const { authority: use, what } = action;
  const live = await liveSecret(execution, secretName(cluster, use));
  const known = live && contentOf(use, live);
  if (what !== "authority" && known === undefined)
    throw new NotYet(`the Secret ${secretName(cluster, use)} is another one than was looked at`, whileCacheIsBehindMs);
  const now = context.now();
  const authority =
    what === "authority" || known === undefined
      ? await context.signer.makeAuthority(`${cluster.metadata.namespace} ${secretName(cluster, use)}`, now)
      : known.authority;
  const due = what === "authority" ? signedBy[use] : what;
  const fresh = await Promise.all(due.map(async (leaf) => [leaf, await signed(execution, authority, leaf)] as const));
  const leaves: Partial<Record<LeafUse, KeyPair>> = {
    ...(what === "authority" ? {} : known?.leaves),
    ...Object.fromEntries(fresh),
  };
  const rotated = what === "authority" ? cluster.metadata.annotations?.[rotateCaAnnotation] : known?.rotated;
  await write(execution, authoritySecret(cluster, use, { authority, leaves, rotated }), live);
}

function signed({ cluster, context }: Execution, authority: Authority, use: LeafUse): Promise<KeyPair> {
  return context.signer.makeLeaf(authority, requestFor(cluster, use), context.now());
}

export function requestFor(cluster: CompleteEtcdCluster, use: LeafUse): LeafRequest {
  return { commonName: commonNames[use](cluster.metadata.name), names: namesFor(cluster, use), use: madeFor[use] };
}

/** Where etcd's own authentication is on, a client is the user that its certificate names. */
const commonNames: Readonly<Record<LeafUse, (cluster: string) => string>> = {
  peer: (cluster) => `${cluster}-peer`,
  server: (cluster) => `${cluster}-server`,
  operator: () => "root",
  client: (cluster) => `${cluster}-client`,
};

function contentOf(use: AuthorityUse, secret: Secret) {
  const data = decoded(secret);
  const { "ca.crt": cert = "", "ca.key": key = "" } = data;
  if (cert === "" || key === "") return undefined;
  const leaves = signedBy[use].map((leaf) => [
    leaf,
    { cert: data[`${leaf}.crt`] ?? "", key: data[`${leaf}.key`] ?? "" },
  ]);
  const rotated = secret.metadata?.annotations?.[rotateCaAnnotation];
  return { authority: { cert, key }, leaves: Object.fromEntries(leaves), rotated };
}

export async function writeCertificate(execution: Execution, { use }: ActionOf<"writeCertificate">): Promise<void> {
  const { assessment, cluster, context } = execution;
  const wanted = assessment.certificates.writes.get(use);
  if (wanted === undefined) throw new NotYet(`there is nothing to write for ${use}`);
  const secret = leafSecret(cluster, use, wanted.bundle, wanted.graceFrom);
  const known = context.caches(cluster.metadata.namespace).secrets?.get(keyOf(secret));
  await write(execution, secret, known !== undefined && isControlledBy(known, cluster) ? known : undefined);
}

/** Over exactly what the decision was made from; what belongs to somebody else is not touched. */
async function write({ cluster, pass }: Execution, secret: Secret, before: Secret | undefined): Promise<void> {
  const { resourceVersion, uid } = before?.metadata ?? {};
  if (resourceVersion !== undefined && uid !== undefined) {
    const metadata = { ...secret.metadata, resourceVersion, uid };
    await pass.api.replace(Secret, { ...secret, metadata }, { fieldManager });
    return;
  }
  try {
    await pass.api.create(Secret, secret, { fieldManager });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    requireOwn(Secret, await pass.api.get(Secret, keyOf(secret)), cluster);
    throw new NotYet(`the Secret ${keyOf(secret).name} was there already`, whileCacheIsBehindMs);
  }
}

async function liveSecret({ cluster, pass }: Execution, name: string): Promise<Secret | undefined> {
  try {
    const secret = await pass.api.get(Secret, { namespace: cluster.metadata.namespace, name });
    return isControlledBy(secret, cluster) ? secret : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export async function noteTrust({ pass, cluster }: Execution, action: ActionOf<"noteTrust">): Promise<void> {
  const { member, uid, tls } = action;
  const key = { namespace: cluster.metadata.namespace, name: member };
  const metadata = { uid, annotations: trustAnnotations(tls) };
  await pass.api.mergePatch(Pod, key, { metadata }, { fieldManager });
}

export async function renewFiles({ pass, cluster }: Execution, action: ActionOf<"renewFiles">): Promise<void> {
  const { member, uid, leaves } = action;
  const key = { namespace: cluster.metadata.namespace, name: member };
  const metadata = { uid, annotations: { [renewedAnnotation]: leaves } };
  await pass.api.mergePatch(Pod, key, { metadata }, { fieldManager });
}

/** Only this condition: the others are the kubelet's. */
export async function markServing(
  { pass, cluster, context }: Execution,
  action: ActionOf<"markServing">,
): Promise<void> {
  const { namespace } = cluster.metadata;
  const { member: name, uid } = action;
  const lastTransitionTime = secondsTime(new Date(context.now()));
  const condition = { type: servingGate, status: "True", reason: "Serves", lastTransitionTime };
  await pass.api.apply(
    Pod,
    { metadata: { namespace, name, uid }, status: { conditions: [condition] } },
    { subresource: "status", fieldManager, force: true },
  );
}
