// The Secrets that the operator keeps for a cluster, each restricted to what its user needs: members, the operator itself,
// applications, and the keys of the CAs, which nobody mounts.
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Secret } from "../../kube/objects/kinds.ts";
import { controllerOf } from "../../kube/objects/owners.ts";
import type { Authority } from "../../tls/make.ts";
import { type Bundle, type KeyPair, type SecretUse as KeyNames, writeBundle } from "../../tls/pem.ts";
import { metadataOf } from "./labels.ts";
import { type AuthorityUse, type LeafUse, rotateCaAnnotation, secretName } from "./tls.ts";

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
  /** What the annotation of the EtcdCluster said when the CA was made. */
  readonly rotated: string | undefined;
}

export function authoritySecret(
  cluster: CompleteEtcdCluster,
  use: AuthorityUse,
  { authority, leaves, rotated }: AuthorityContent,
): Secret {
  const pairs = Object.entries(leaves).flatMap(([leaf, { cert, key }]) => [
    [`${leaf}.crt`, cert] as const,
    [`${leaf}.key`, key] as const,
  ]);
  return {
    metadata: {
      ...metadataOf(cluster, secretName(cluster, use)),
      ...(rotated !== undefined && { annotations: { [rotateCaAnnotation]: rotated } }),
    },
    type: "Opaque",
    data: encoded({ ...Object.fromEntries(pairs), "ca.crt": authority.cert, [authorityKey]: authority.key }),
  };
}

const authorityKey = "ca.key";

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
  return { ...rest, data: Object.fromEntries(Object.entries(data).filter(([name]) => name !== authorityKey)) };
}
