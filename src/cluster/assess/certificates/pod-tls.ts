// What a pod that is made now speaks. Between plain text and TLS among peers there is a step: members that are reached in
// plain text and can reach others by TLS. Any two neighbours on these steps can talk to each other, and members that are
// more than one step apart are never made. So a cluster that serves goes from one end to the other in two rolls.
import { anchorsIn, bundleFingerprint, signerOf } from "../../../tls/ca-bundle.ts";
import { type PeerTls, type PodTls, tlsOf } from "../../objects/tls.ts";
import { memberOfPeerUrl } from "../../objects/names.ts";
import type { MemberPod, ClusterWorld } from "../../observe/world.ts";

type PodTlsOrWhyNot = { readonly t: "tls"; readonly tls: PodTls } | { readonly t: "none"; readonly why: string };

/** Undefined instead of a step: the Secret that it needs is not there. */
export function podTlsOf(world: ClusterWorld): PodTlsOrWhyNot {
  const wanted = wantedTls(world);
  const { peer: peers, server, operator } = world.tls.kept;
  const pods = there(world);
  const peer = peerStep(wanted.peer, world);
  if (peer !== "plain" && peers === undefined)
    return pods.length > 0 && pods.every((pod) => pod.tls.peer === "plain")
      ? podTls(world, "plain", clientTls(world))
      : { t: "none", why: "there are no certificates for peers yet" };
  const client = clientTls(world);
  if (client && (server === undefined || operator === undefined))
    return { t: "none", why: "there are no certificates for clients yet" };
  return podTls(world, peer, client);
}

function podTls({ cluster, tls: { kept } }: ClusterWorld, peer: PeerTls, client: boolean): PodTlsOrWhyNot {
  const peers = peer === "plain" ? undefined : kept.peer?.bundle;
  const server = client ? kept.server?.bundle : undefined;
  const operatorTrusts = kept.operator?.bundle.ca ?? "";
  const signers = {
    peer: peers && signerOf(peers.pair.cert, peers.ca),
    client: server && signerOf(server.pair.cert, operatorTrusts),
  };
  const tls: PodTls = {
    peer,
    client,
    trusts: {
      ...(peers && { peer: bundleFingerprint(peers.ca) }),
      ...(server && { client: bundleFingerprint(server.ca) }),
    },
    anchors: {
      ...(peers && { peer: anchorsIn(peers.ca) }),
      ...(server && { client: anchorsIn(server.ca) }),
    },
    presents: {
      ...(signers.peer !== undefined && { peer: signers.peer }),
      ...(signers.client !== undefined && { client: signers.client }),
    },
    made: tlsOf(cluster).made,
  };
  return { t: "tls", tls };
}

/** A running cluster whose certificates are not there yet stays as it is. */
function clientTls(world: ClusterWorld): boolean {
  const { client } = wantedTls(world);
  const { server, operator } = world.tls.kept;
  const pods = there(world);
  if (!client || (server !== undefined && operator !== undefined) || pods.length === 0) return client;
  return pods.some((pod) => pod.tls.client);
}

/** While the spec is wrong, new members are as the others are. */
function wantedTls(world: ClusterWorld): { readonly peer: boolean; readonly client: boolean } {
  const pods = there(world);
  if (world.problems.length === 0 || pods.length === 0) return tlsOf(world.cluster);
  return { peer: pods.some(({ tls }) => tls.peer === "tls"), client: pods.some(({ tls }) => tls.client) };
}

const there = ({ pods }: ClusterWorld): readonly MemberPod[] => pods.filter(({ state }) => state.t !== "ended");

/**
 * - plain, plain, plain, TLS wanted: ready. ready, ready, plain: ready. ready, ready, ready: tls. tls, ready, ready: tls.
 * - tls, tls, tls, plain text wanted: ready. ready, ready, tls: ready. ready, ready, ready: plain.
 */
function peerStep(isWanted: boolean, world: ClusterWorld): PeerTls {
  const steps = new Set([...there(world).map(({ tls }) => tls.peer), ...listedWithoutPod(world)]);
  if (steps.size === 0) return isWanted ? "tls" : "plain";
  if (isWanted) return steps.has("plain") ? "ready" : "tls";
  return steps.has("tls") ? "ready" : "plain";
}

/** A member whose pod is gone comes back as it is listed, or, while nobody says how that is, as its claim has it. */
function listedWithoutPod({ claims, cluster, etcd, pods }: ClusterWorld): PeerTls[] {
  const members = "members" in etcd ? etcd.members : [];
  const listed = members.map(({ peerUrls: [url = ""] }) => [memberOfPeerUrl(cluster, url), url] as const);
  const claimed = claims
    .filter(({ role, release }) => role === "current" && release !== undefined)
    .map(({ name, peers }) => [name, `${peers}:`] as const);
  const known = listed.length > 0 ? listed : claimed;
  return known
    .filter(([name]) => name !== undefined && !pods.some((pod) => pod.name === name))
    .flatMap(([, url]) => (url.startsWith("https:") ? ["tls"] : []));
}

/** For a member that etcd lists already: it must be found where it is listed. */
export function podTlsFor(tls: PodTls, peerUrl: string): PodTls {
  if (peerUrl.startsWith("https:")) return { ...tls, peer: "tls" };
  return peerUrl.startsWith("http:") && tls.peer === "tls" ? { ...tls, peer: "ready" } : tls;
}

interface OutdatedTls {
  readonly because: string;
  /** Another scheme is another peer URL, and so another member. The rest another pod of the same member can have. */
  readonly by: "replace" | "otherPod";
}

/** What in a pod differs from one that would be made now; undefined: nothing that is known. */
export function outdatedTls(pod: Pick<MemberPod, "tls">, wanted: PodTls): OutdatedTls | undefined {
  const { peer, client, trusts } = pod.tls;
  if (peer !== wanted.peer) {
    const isOtherUrl = (peer === "tls") !== (wanted.peer === "tls");
    return { because: `its peers are to reach it ${inWords[wanted.peer]}`, by: isOtherUrl ? "replace" : "otherPod" };
  }
  if (client !== wanted.client)
    return { because: `clients are to reach it ${client ? "without TLS" : "by TLS"}`, by: "otherPod" };
  const isOld = (side: "peer" | "client"): boolean =>
    wanted.trusts[side] !== undefined && trusts[side] !== undefined && trusts[side] !== wanted.trusts[side];
  return isOld("peer") || isOld("client") ? { because: "it has to read the new CA", by: "otherPod" } : undefined;
}

const inWords = {
  plain: "without TLS",
  ready: "without TLS for now, and it is to reach others by TLS",
  tls: "by TLS",
} as const;
