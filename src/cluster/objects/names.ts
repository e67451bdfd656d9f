// Names of members, and the URLs where peers and clients find them. A peer URL holds the name of its pod, so etcd's own
// list of members says which pods there must be, after whatever crash.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Brand } from "../../brand.ts";
import { derivedLetters, randomLetters } from "../../kube/objects/derived-name.ts";
import { ports } from "./labels.ts";
import type { Scheme } from "./tls.ts";

/** The name of a pod, of its member, and the first label of its peer URL. */
export type MemberName = Brand<string, "member name">;

/** For a text that is known to name a member: its pod or its claim has it, or a list of members does. */
export function memberName(text: string): MemberName {
  return text as MemberName;
}

type Named = Pick<CompleteEtcdCluster, "metadata" | "spec">;
type Begun = Named & Pick<CompleteEtcdCluster, "status">;

const tailLength = 10;

/** A name that no member or pod of the cluster has. `random` gives numbers from 0 up to 1. */
export function newMemberName(cluster: Named, taken: ReadonlySet<MemberName>, random: () => number): MemberName {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const name = memberName(`${cluster.metadata.name}-${randomLetters(random, tailLength)}`);
    if (!taken.has(name)) return name;
  }
  throw new RangeError("the same random name came up a hundred times");
}

/**
 * The same for the same EtcdCluster: two operators, or one with an old view, make one seed between them, because the
 * API server takes a name once. A cluster that was deleted and made again has another uid, and so another seed; so has
 * one that is restored.
 */
export function seedName(cluster: Begun): MemberName {
  const { restore } = cluster.status;
  const restored = restore === undefined || restore.phase === "Stopping" ? "" : ` restored by ${restore.uid}`;
  return nameFrom(cluster, `seed of ${cluster.metadata.uid ?? ""}${restored}`);
}

/** In a restored cluster, which may begin with several. The first of all is its seed. */
export function firstMemberName(cluster: Named, restoreUid: string, attempt: number, index: number): MemberName {
  const which = attempt === 0 && index === 0 ? "" : `, member ${index} of attempt ${attempt}`;
  return nameFrom(cluster, `seed of ${cluster.metadata.uid ?? ""} restored by ${restoreUid}${which}`);
}

function nameFrom(cluster: Named, text: string): MemberName {
  return memberName(`${cluster.metadata.name}-${derivedLetters(text, tailLength)}`);
}

export function hostOf(cluster: Named, member: MemberName): string {
  const { name, namespace } = cluster.metadata;
  return `${member}.${name}.${namespace}.svc${cluster.spec.pod.ClusterDomain}`;
}

export function peerUrlOf(cluster: Named, member: MemberName, scheme: Scheme = "http"): string {
  return `${scheme}://${hostOf(cluster, member)}:${ports.peer}`;
}

/** Where a member is listed until it has joined, when several start together; see assess/together.ts. Needs no DNS. */
export function placeholderUrlOf(cluster: Named, member: MemberName): string {
  return `${placeholder}//${hostOf(cluster, member)}:${ports.peer}`;
}

const placeholder = "unix:";

export function isPlaceholder({ peerUrls }: { readonly peerUrls: readonly string[] }): boolean {
  return peerUrls.some((url) => url.startsWith(placeholder));
}

export function clientUrlOf(cluster: Named, member: MemberName, scheme: Scheme = "http"): string {
  return `${scheme}://${hostOf(cluster, member)}:${ports.client}`;
}

/** The EtcdCluster that a member of this URL belongs to, as in shop/orders; undefined for one of another form. */
export function homeOfPeerUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const [member = "", name = "", namespace = "", svc] = new URL(url).hostname.split(".");
  return svc === "svc" && name !== "" && member.startsWith(`${name}-`) ? `${namespace}/${name}` : undefined;
}

/**
 * Undefined for a URL that is not of this cluster. The domain behind `.svc` may be any: it can be edited while members
 * run, and etcd-operator 0.9 ignored it. So may be the tail: older releases counted, as in `-0000`.
 */
export function memberOfPeerUrl(cluster: Pick<Named, "metadata">, url: string): MemberName | undefined {
  if (!URL.canParse(url)) return undefined;
  const [member = "", subdomain, namespace, svc] = new URL(url).hostname.split(".");
  const { name } = cluster.metadata;
  const ours = subdomain === name && namespace === cluster.metadata.namespace && svc === "svc";
  return ours && member.startsWith(`${name}-`) ? memberName(member) : undefined;
}
