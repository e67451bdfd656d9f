// The names that a certificate of members has to cover: those under which they are dialled, whatever the spec says by now. A
// member keeps the name that it was added under, so etcd's list and the pods say more than `spec.pod.ClusterDomain` does.
import { isIP } from "node:net";
import { namesOf } from "../../../tls/names.ts";
import { certificatesIn } from "../../../tls/pem.ts";
import type { GivenUse, LeafUse } from "../../objects/tls.ts";
import { namesToMake, requiredNames } from "../../objects/tls.ts";
import { memberOfPeerUrl } from "../../objects/names.ts";
import type { ClusterWorld } from "../../observe/world.ts";

/** All that one has which the operator makes: what the spec asks for as well. */
export function namesFor(world: ClusterWorld, use: LeafUse): readonly string[] {
  if (use !== "peer" && use !== "server") return [];
  return [...new Set([...namesToMake(world.cluster, use), ...namesInUse(world, use), ...namesCovered(world, use)])];
}

/** What one that was given must have at least. */
export function namesExpected(world: ClusterWorld, use: GivenUse): readonly string[] {
  return [...new Set([...requiredNames(world.cluster, use), ...(use === "peer" ? namesInUse(world, use) : [])])];
}

function namesInUse({ cluster, etcd, pods }: ClusterWorld, use: "peer" | "server"): string[] {
  const members = "members" in etcd ? etcd.members : [];
  const listed = members.flatMap(({ peerUrls, clientUrls }) => (use === "peer" ? peerUrls : clientUrls));
  const started = pods.flatMap(({ advertises }) => advertises?.[use === "peer" ? "peer" : "client"] ?? []);
  const names = [...listed, ...started].filter((url) => URL.canParse(url)).map((url) => nameIn(cluster, url));
  // Clients come by names; the address of a pod, as another operator may have listed it, goes with the pod.
  return names.filter((name) => name !== "" && (use === "peer" || isIP(name) === 0));
}

/** One name for all members of a domain. */
function nameIn(cluster: ClusterWorld["cluster"], url: string): string {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const member = memberOfPeerUrl(cluster, url);
  return member === undefined ? host : `*${host.slice(member.length)}`;
}

/** Only a list that was read through the quorum says that a name is not needed any more. */
function namesCovered({ etcd, tls: { kept } }: ClusterWorld, use: "peer" | "server"): string[] {
  const leaf = etcd.t === "quorum" ? undefined : certificatesIn(kept[use]?.bundle.pair.cert ?? "")?.[0];
  return leaf === undefined ? [] : namesOf(leaf);
}
