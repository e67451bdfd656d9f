// The Secrets that the operator keeps for a cluster, each restricted to what its user needs: members, the operator itself,
// applications, and the keys of the CAs, which nobody mounts.
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Secret } from "../../kube/objects/kinds.ts";
import { controllerOf } from "../../kube/objects/owners.ts";
import type { Authority } from "../../tls/make.ts";
import { type Bundle, type KeyPair, type SecretUse as KeyNames, writeBundle } from "../../tls/pem.ts";
import { metadataOf } from "./labels.ts";
import { type AuthorityUse, type LeafUse, rotateCaAnnotation, secretName, signedBy } from "./tls.ts";

/** Since when applications have time to read what changed in their Secret. */
export const graceFromAnnotation = `${EtcdCluster.group}/grace-from`;

/** Under which names a Secret of this use holds its parts. */
export const keyNamesOf = (use: LeafUse): KeyNames => (use === "peer" || use === "server" ? use : "etcd-client");

export function leafSecret(
  cluster: CompleteEtcdCluster,
  use: LeafUse,
  bundle: Bundle,
  graceFrom: number | undefined,
): Secret {
  const { ca, pair } = bundle;
  const names = writeBundle(keyNamesOf(use), bundle);
  // For applications under the usual names, too, as cert-manager writes them.
  const isClient = use === "client";
  const data = isClient ? { ...names, "tls.crt": pair.cert, "tls.key": pair.key, "ca.crt": ca } : names;
  return {
    metadata: {
      ...metadataOf(cluster, secretName(cluster, use)),
      ...(graceFrom !== undefined && {
        annotations: { [graceFromAnnotation]: new Date(graceFrom).toISOString() },
      }),
    },
    type: isClient ? "kubernetes.io/tls" : "Opaque",
    data: encoded(data),
  };
}

/** A CA, and the certificates that it signed last: they are used as soon as all that must trust them do. */
export interface AuthorityContent {
  readonly authority: Authority;
  readonly leaves: Partial<Readonly<Record<LeafUse, KeyPair>>>;
  /** The previous CA, while certificates of it are in use: its key renews them for as long as members trust no other. */
  readonly previous?: Omit<AuthorityContent, "previous" | "rotated"> | undefined;
  /** What the annotation of the EtcdCluster said when the CA was made. */
  readonly rotated: string | undefined;
}

export function authoritySecret(
  cluster: CompleteEtcdCluster,
  use: AuthorityUse,
  { rotated, previous, ...current }: AuthorityContent,
): Secret {
  return {
    metadata: {
      ...metadataOf(cluster, secretName(cluster, use)),
      ...(rotated !== undefined && { annotations: { [rotateCaAnnotation]: rotated } }),
    },
    type: "Opaque",
    data: encoded({ ...filesOf(current), ...(previous && filesOf(previous, previousPrefix)) }),
  };
}

function filesOf(
  { authority, leaves }: NonNullable<AuthorityContent["previous"]>,
  prefix = "",
): Record<string, string> {
  const pairs = Object.entries(leaves).flatMap(([leaf, { cert, key }]) => [
    [`${prefix}${leaf}.crt`, cert] as const,
    [`${prefix}${leaf}.key`, key] as const,
  ]);
  return { ...Object.fromEntries(pairs), [`${prefix}ca.crt`]: authority.cert, [`${prefix}ca.key`]: authority.key };
}

/** Names the files of the previous CA. */
export const previousPrefix = "previous-";

/** A CA and what it has signed, as a Secret holds them; undefined: there is none. */
export function authorityIn(
  use: AuthorityUse,
  data: Readonly<Record<string, string>>,
  prefix = "",
): { readonly cert: string; readonly key: string; readonly leaves: AuthorityContent["leaves"] } | undefined {
  const { [`${prefix}ca.crt`]: cert = "", [`${prefix}ca.key`]: key = "" } = data;
  if (cert === "") return undefined;
  const leaves = signedBy[use].flatMap((leaf) => {
    const pair = { cert: data[`${prefix}${leaf}.crt`] ?? "", key: data[`${prefix}${leaf}.key`] ?? "" };
    return pair.cert === "" || pair.key === "" ? [] : [[leaf, pair] as const];
  });
  return { cert, key, leaves: Object.fromEntries(leaves) };
}

const authorityKeys: ReadonlySet<string> = new Set(["ca.key", `${previousPrefix}ca.key`]);

/**
 * What is ours, in a Secret that others have added to: labels of a team, annotations of a replicator, a keystore. The
 * resourceVersion of what it goes into stays, so that nothing is overwritten that was written meanwhile.
 */
export function broughtInto(before: Secret, { metadata, data, type }: Secret): Secret {
  const { annotations = {}, ...kept } = before.metadata ?? {};
  const others = Object.entries(annotations).filter(([name]) => !ownAnnotations.has(name));
  const theirs = Object.entries(before.data ?? {}).filter(([name]) => !ownFile.test(name));
  return {
    ...before,
    metadata: {
      ...kept,
      labels: { ...before.metadata?.labels, ...metadata?.labels },
      annotations: { ...Object.fromEntries(others), ...metadata?.annotations },
    },
    ...(type !== undefined && { type }),
    data: { ...Object.fromEntries(theirs), ...data },
  };
}

/** Certificates and keys under the names that this file gives them; one that is not written any more goes. */
const ownFile = /^(?:previous-)?(?:ca|tls|peer|server|operator|client|etcd-client)(?:-ca)?\.(?:crt|key)$/;
const ownAnnotations: ReadonlySet<string> = new Set([graceFromAnnotation, rotateCaAnnotation]);

const encoded = (data: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));

export function decoded({ data = {} }: Secret): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([name, text]) => [name, Buffer.from(text, "base64").toString("utf8")]),
  );
}

/** What the cache keeps: of Secrets that are not the operator's nothing, and of those of CAs no key that signs. */
export function leanSecret(secret: Secret): Secret {
  const { data = {}, ...rest } = secret;
  if (controllerOf(secret)?.kind !== EtcdCluster.kind) return rest;
  return { ...rest, data: Object.fromEntries(Object.entries(data).filter(([name]) => !authorityKeys.has(name))) };
}
