// The names of the Secrets that the operator keeps for an EtcdCluster with TLS. The cluster's own objects mount them, and
// so do the workers that reach its members.

export type GivenUse = "peer" | "server" | "operator";
/** `client`: for applications. Only with certificates that the operator makes. */
export type LeafUse = GivenUse | "client";
export type AuthorityUse = "peer-ca" | "client-ca";
export type SecretUse = LeafUse | AuthorityUse;

export function secretName(
  { metadata: { name } }: { readonly metadata: { readonly name: string } },
  use: SecretUse,
): string {
  return use === "peer-ca" || use === "client-ca" ? `${name}-${use}` : `${name}-${use}-tls`;
}
