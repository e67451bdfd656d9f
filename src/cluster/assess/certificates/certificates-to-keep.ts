// What the certificates of a cluster should be while its spec is not followed, because it is wrong or because of a pause: those
// that are in use, renewed. What serves must not expire meanwhile. Whether they are made or given is seen in what is there.
import { signerOf } from "../../../tls/ca-bundle.ts";
import type { Bundle } from "../../../tls/pem.ts";
import { authorityUses, leafUses, type LeafUse, rotateCaAnnotation, signedBy, tlsOf } from "../../objects/tls.ts";
import type { ClusterWorld } from "../../observe/world.ts";
import { type Wanted, wantedCertificates } from "./wanted-certificates.ts";

export const isHeldUp = ({ cluster, problems }: ClusterWorld): boolean => problems.length > 0 || cluster.spec.paused;

export function certificatesToKeep(world: ClusterWorld, now: number): Wanted {
  const isNeeded = world.pods.some(({ tls }) => tls.peer !== "plain" || tls.client);
  if (!isNeeded) return { bundles: {}, before: {}, problems: [], toMake: [] };
  const isMade = hasMadeThem(world);
  const wanted = wantedCertificates(asItIs(world, isMade), now);
  if (isMade) return wanted;
  const renewed = leafUses.flatMap((use): [LeafUse, Bundle][] => {
    const bundle = wanted.bundles[use];
    return bundle === undefined ? [] : [[use, renewalOf(world, use, bundle)]];
  });
  return { ...wanted, bundles: Object.fromEntries(renewed) };
}

/** Those in use come from a CA of the operator. Where none is left, the spec is all that says so. */
function hasMadeThem({ cluster, pods, tls: { authorities, kept } }: ClusterWorld): boolean {
  const isOwn = authorityUses.some((authority) => {
    const cert = authorities[authority]?.cert ?? "";
    return signedBy[authority].some((use) => signerOf(kept[use]?.bundle.pair.cert ?? "", cert) !== undefined);
  });
  const isNothingLeft = leafUses.every((use) => kept[use] === undefined);
  return isOwn || (isNothingLeft && (tlsOf(cluster).made || pods.some(({ tls }) => tls.made)));
}

/** Another CA needs members that are started again, so nobody begins with one now. */
function asItIs(world: ClusterWorld, isMade: boolean): ClusterWorld {
  const { cluster } = world;
  const { [rotateCaAnnotation]: _, ...annotations } = cluster.metadata.annotations ?? {};
  const { static: given } = cluster.spec.TLS ?? {};
  const TLS = isMade ? { auto: true } : tlsOf(cluster).made || given === undefined ? undefined : { static: given };
  const { TLS: __, ...spec } = cluster.spec;
  return {
    ...world,
    cluster: { ...cluster, metadata: { ...cluster.metadata, annotations }, spec: { ...spec, ...(TLS && { TLS }) } },
  };
}

/** A given one of the same CA takes the place of the one in use. One of another CA has to wait. */
function renewalOf({ tls: { kept } }: ClusterWorld, use: LeafUse, wanted: Bundle): Bundle {
  const effective = kept[use]?.bundle;
  if (effective === undefined) return wanted;
  const other = { peer: kept.peer, server: kept.operator, operator: kept.server, client: kept.server }[use];
  const trusted = other?.bundle.ca ?? effective.ca;
  const signer = signerOf(effective.pair.cert, trusted);
  const isRenewed = signer !== undefined && signerOf(wanted.pair.cert, trusted) === signer;
  return isRenewed ? { ...effective, pair: wanted.pair } : effective;
}
