// Certificates, judged once: what is wrong with those that were given, what the operator's Secrets should hold next, what a
// pod speaks that is made now, and what expires. The order in which a changed CA is taken over is in src/tls.
import { addToBundle, anchorsIn, bundleFingerprint, isAnchored, signerOf } from "../../../tls/ca-bundle.ts";
import { type ClientNext, type ClientSide, firstOnClientSide, nextOnClientSide } from "../../../tls/client-trust.ts";
import { leafLifeMs } from "../../../tls/make.ts";
import type { Bundle } from "../../../tls/pem.ts";
import { nextBundle } from "../../../tls/trust.ts";
import { type ExpiryWarning, type Validity, validityOf, warningOf } from "../../../tls/validity.ts";
import {
  authorityUses,
  leafUses,
  type LeafUse,
  type PodTls,
  type PodTrust,
  plainText,
  type SecretUse,
  tlsOf,
} from "../../objects/tls.ts";
import { leafFingerprint } from "../../observe/tls.ts";
import type { WireSide } from "../../observe/wire.ts";
import type { MemberPod, ClusterWorld } from "../../observe/world.ts";
import { certificatesToKeep, isHeldUp } from "./certificates-to-keep.ts";
import { podTlsOf } from "./pod-tls.ts";
import { type CertificateProblem, type ToMake, type Wanted, wantedCertificates } from "./wanted-certificates.ts";
import { delays } from "../../../controllers/delays.ts";

export interface Certificates {
  /** What a pod speaks that is made now; undefined: none can be made. */
  readonly pods: PodTls | undefined;
  /** Why none can be made. */
  readonly blocked: string | undefined;
  /** Why pods that are made now do not speak what the spec asks for; undefined: they do, or none can be made. */
  readonly unfinished: string | undefined;
  readonly toMake: readonly ToMake[];
  /** What the operator's Secrets are to hold. Not part of any action, which would be logged. */
  readonly writes: ReadonlyMap<LeafUse, CertificateWrite>;
  /**
   * Those of them that running members would not trust, in the place of Secrets that were lost: as long as nothing is
   * written, members go on with the files that they have.
   */
  readonly setsApart: ReadonlySet<LeafUse>;
  /** What the next step waits for; undefined: nothing. */
  readonly waits: string | undefined;
  /**
   * Pods whose etcd does not trust the certificate that its peers, or the operator, present by now: each has to be started
   * again, in place, to read the CA that is there.
   */
  readonly apart: readonly Apart[];
  /** Pods of which it is not known what they trust, as those that another operator made. */
  readonly unknown: readonly PodNote[];
  /** Pods that present another certificate than the one in the Secret, and have not been told yet. */
  readonly stale: readonly { readonly pod: MemberPod; readonly leaves: string }[];
  readonly problems: readonly CertificateProblem[];
  readonly inUse: readonly CertificateInUse[];
  /** Milliseconds. */
  readonly requeueAfter: number;
}

interface CertificateWrite {
  readonly bundle: Bundle;
  readonly graceFrom: number | undefined;
  readonly because: string;
}

interface PodNote {
  readonly pod: MemberPod;
  readonly tls: PodTrust;
}

interface Apart extends PodNote {
  /** What its kubelet has brought it: as much as is known of that. */
  readonly files: "there" | "onTheirWay";
}

/** Valid as what members present is, if that expires earlier. */
export interface CertificateInUse extends Validity {
  readonly use: SecretUse;
  /** By a person, or by the operator, which also renews it. */
  readonly source: "given" | "made";
  readonly warning: ExpiryWarning | undefined;
  /** The member that presents it, if it is not the one in the Secret. */
  readonly presentedBy?: string;
}

const none: Certificates = {
  pods: plainText,
  blocked: undefined,
  unfinished: undefined,
  toMake: [],
  writes: new Map(),
  setsApart: new Set(),
  waits: undefined,
  apart: [],
  unknown: [],
  stale: [],
  problems: [],
  inUse: [],
  requeueAfter: Number.POSITIVE_INFINITY,
};

export function certificatesOf(world: ClusterWorld, now: number): Certificates {
  const { tls, pods } = world;
  const asked = tlsOf(world.cluster);
  const speaks = pods.some((pod) => pod.tls.peer !== "plain" || pod.tls.client);
  if (!asked.peer && !asked.client && !speaks) return none;
  if (!tls.readable)
    return {
      ...none,
      pods: undefined,
      blocked:
        "the operator cannot read Secrets yet: grant it list and watch on secrets, as example/rbac does, if this lasts",
      requeueAfter: delays.later,
    };
  const wanted = isHeldUp(world) ? certificatesToKeep(world, now) : wantedCertificates(world, now);
  const peers = peerWrites(world, wanted, now);
  const clients = clientWrites(world, wanted, now);
  const made = podTlsOf(world);
  const sentences = wanted.problems.map(({ sentence }) => sentence);
  const steps = [...peers.writes, ...clients.writes];
  const apart = made.t === "none" ? [] : apartPods(world, made.tls);
  return {
    pods: made.t === "tls" ? made.tls : undefined,
    blocked: made.t === "none" ? [made.why, ...sentences].join(". ").replace(/\.$/, "") : undefined,
    unfinished: made.t === "tls" && world.problems.length === 0 ? unfinishedIn(world, made.tls) : undefined,
    toMake: wanted.toMake,
    writes: new Map(steps),
    setsApart: new Set(steps.filter((step) => isSettingApart(world, step)).map(([use]) => use)),
    waits: peers.waits ?? clients.waits,
    apart,
    unknown: steps.length > 0 || made.t === "none" ? [] : unknownPods(world, made.tls),
    stale: stalePods(world, apart),
    problems: wanted.problems,
    inUse: inUseNow(world, now),
    requeueAfter: Math.min(peers.requeueAfter ?? never, clients.requeueAfter ?? never),
  };
}

function unfinishedIn({ cluster }: ClusterWorld, now: PodTls): string | undefined {
  const asked = tlsOf(cluster);
  if (now.peer === (asked.peer ? "tls" : "plain") && now.client === asked.client) return undefined;
  return now.peer === "ready"
    ? "TLS between members is turned on or off in two steps, of which one is not over"
    : "TLS is asked for, and there are no certificates for it yet";
}

/** A kubelet brings a changed Secret into its pods within a minute and a half. */
const graceWhenAsked = 90_000;

interface SideSteps {
  readonly writes: readonly (readonly [LeafUse, CertificateWrite])[];
  readonly waits?: string;
  readonly requeueAfter?: number;
}

const nothing: SideSteps = { writes: [] };

/** A roll brings its own reconciles; a kubelet that brings a file says nothing. */
const waiting = (waits: string, requeueAfter: number): SideSteps => ({ writes: [], waits, requeueAfter });
const never = Number.POSITIVE_INFINITY;

function peerWrites(world: ClusterWorld, { bundles, before }: Wanted, now: number): SideSteps {
  if (bundles.peer === undefined) return nothing;
  const effective = world.tls.kept.peer?.bundle;
  const side = { effective, wanted: bundles.peer, before: before.peer };
  const next = nextBundle({ ...side, ...seenOf(world, "peer", effective?.ca), now });
  if (next.t === "settled") return nothing;
  if (next.t !== "write") return waiting(next.because, next.t === "waitForRoll" ? never : delays.untilSettled);
  const { bundle, because } = next;
  return { writes: [["peer", { bundle, because, ...repairOf(world, "peer", bundle), graceFrom: undefined }]] };
}

function clientWrites(world: ClusterWorld, { bundles, before }: Wanted, now: number): SideSteps {
  const { kept } = world.tls;
  const { server, operator, client } = bundles;
  const needsClient = tlsOf(world.cluster).made;
  if (server === undefined || operator === undefined || (needsClient && client === undefined)) return nothing;
  const applications = client && {
    effective: kept.client?.bundle,
    wanted: client,
    before: before.client,
    changedAt: kept.client?.graceFrom ?? 0,
    grace: graceOf(world),
  };
  const side: ClientSide = {
    server: { effective: kept.server?.bundle, wanted: server, before: before.server },
    operator: { effective: kept.operator?.bundle, wanted: operator, before: before.operator },
    ...(applications && { applications }),
    ...seenOf(world, "client", kept.operator?.bundle.ca),
    now,
  };
  const written = (step: Extract<ClientNext, { t: "write" }>): readonly [LeafUse, CertificateWrite] => {
    const use = step.secret === "applications" ? "client" : step.secret;
    const graceFrom = step.startsGrace ? now : kept[use]?.graceFrom || undefined;
    return [use, { bundle: step.bundle, graceFrom, because: step.because }];
  };
  const first = firstOnClientSide(side);
  if (first.length > 0)
    return {
      writes: first.map(written).map(([use, one]) => [use, { ...one, ...repairOf(world, use, one.bundle) }] as const),
    };
  const next = nextOnClientSide(side);
  if (next.t === "settled") return nothing;
  if (next.t === "waitForApplications") return waiting(next.because, next.until - now);
  if (next.t !== "write")
    return waiting(next.because, next.t === "waitForLeaf" || next.t === "waitForRestart" ? delays.untilSettled : never);
  return { writes: [written(next)] };
}

/** A Secret that somebody damaged is written again. Pods made from it trust what can still be read of its CA bundle. */
function repairOf(
  { tls: { damaged } }: ClusterWorld,
  use: LeafUse,
  bundle: Bundle,
): Omit<CertificateWrite, "graceFrom"> | undefined {
  const damage = damaged[use];
  if (damage === undefined) return undefined;
  const { ca = "", why } = damage;
  return { bundle: { ...bundle, ca: addToBundle(ca, bundle.ca) }, because: `it was damaged: ${why}` };
}

/** A CA that grew old is replaced at leisure; who asks for another one wants it soon. */
function graceOf({ tls }: ClusterWorld): number {
  return tls.authorities["client-ca"]?.rotated === undefined ? leafLifeMs : graceWhenAsked;
}

/** What the members that speak TLS on this side trust, and what they present. */
function seenOf(
  { pods, tls: { kept, presented } }: ClusterWorld,
  side: WireSide,
  ca: string | undefined,
): { trusted: string[]; anchors: (string | undefined)[]; presented: (string | undefined)[] } {
  const speaks = ({ tls, state }: MemberPod): boolean =>
    state.t !== "ended" && (side === "peer" ? tls.peer !== "plain" : tls.client);
  const effective = (side === "peer" ? kept.peer : kept.server)?.bundle;
  const speaking = pods.filter(speaks);
  const presentedBy = ({ uid, tls, state }: MemberPod): string | undefined => {
    const seen = presented.get(uid)?.[side];
    // One that starts reads what is there now; one that is not dialled as a TLS server presents nothing.
    if (seen === undefined) return state.t === "running" ? tls.presents[side] : effective && signerIn(effective, ca);
    const isEffective = effective !== undefined && seen.fingerprint === leafFingerprint(effective);
    return isEffective ? signerIn(effective, ca) : signerOf(seen.cert, ca ?? "");
  };
  return {
    trusted: speaking.map(({ tls }) => tls.trusts[side] ?? ""),
    anchors: speaking.map(({ tls }) => tls.anchors[side]),
    presented: speaking.map(presentedBy),
  };
}

const signerIn = ({ pair }: Bundle, ca: string | undefined): string | undefined => signerOf(pair.cert, ca ?? "");

/**
 * Those of another operator were started with what is there now, for all that is known: nothing was changed since it came.
 * The CAs of those that an older release made are known if they are the ones that are there.
 */
function unknownPods({ pods }: ClusterWorld, now: PodTls): readonly PodNote[] {
  return pods
    .filter(({ state, terminating }) => state.t !== "ended" && !terminating)
    .flatMap((pod) => {
      const { peer, client, trusts, anchors } = pod.tls;
      // Where a pod that is made now trusts nobody there is nothing to note.
      const isUnknown = (side: WireSide): boolean =>
        now.trusts[side] !== undefined &&
        (trusts[side] === undefined || (anchors[side] === undefined && trusts[side] === now.trusts[side]));
      const lacks = {
        peer: peer !== "plain" && isUnknown("peer"),
        client: client && isUnknown("client"),
      };
      if (!lacks.peer && !lacks.client) return [];
      const tls = trustOf(now, lacks);
      return [{ pod, tls: { ...tls, presents: { ...tls.presents, ...pod.tls.presents } } }];
    });
}

/** By what is written on them: they run, and it is their CA that keeps them from being reached. */
function apartPods({ pods, tls: { kept, presented } }: ClusterWorld, now: PodTls): readonly Apart[] {
  const { peer, server, operator } = kept;
  const inUse = {
    peer: peer && { ca: peer.bundle.ca, cert: peer.bundle.pair.cert, expected: leafFingerprint(peer.bundle) },
    client: server &&
      operator && { ca: server.bundle.ca, cert: operator.bundle.pair.cert, expected: leafFingerprint(server.bundle) },
  };
  const isApart = ({ tls }: MemberPod, side: WireSide): boolean => {
    const [leaf, anchors] = [inUse[side], tls.anchors[side]];
    const speaks = side === "peer" ? tls.peer !== "plain" : tls.client;
    if (!speaks || leaf === undefined || anchors === undefined) return false;
    // Only what it would read now can help.
    return isAnchored(leaf.cert, leaf.ca, anchorsIn(leaf.ca)) && !isAnchored(leaf.cert, leaf.ca, anchors);
  };
  const leaves = leavesIn(kept);
  // Where its port cannot be read, its kubelet was asked to bring them.
  const hasFiles = ({ uid, renewed }: MemberPod, side: WireSide): boolean => {
    const seen = presented.get(uid)?.[side];
    return seen === undefined ? renewed === leaves : seen.fingerprint === inUse[side]?.expected;
  };
  return pods
    .filter(({ state, terminating }) => state.t === "running" && !terminating)
    .filter((pod) => isApart(pod, "peer") || isApart(pod, "client"))
    .map((pod) => {
      const sides = (["peer", "client"] as const).filter((side) => isApart(pod, side));
      const isThere = sides.every((side) => hasFiles(pod, side));
      return { pod, tls: trustOn(pod, now), files: isThere ? "there" : "onTheirWay" };
    });
}

function isSettingApart(
  { pods, tls: { kept } }: ClusterWorld,
  [use, { bundle }]: readonly [LeafUse, CertificateWrite],
): boolean {
  if (kept[use] !== undefined || (use !== "peer" && use !== "server")) return false;
  return pods.some(({ state, tls: { anchors, peer, client } }) => {
    const trusted = use === "peer" ? anchors.peer : anchors.client;
    if (state.t === "ended" || trusted === undefined || (use === "peer" ? peer === "plain" : !client)) return false;
    if (use === "peer") return !isAnchored(bundle.pair.cert, bundle.ca, trusted);
    const now = new Set(anchorsIn(bundle.ca).split("."));
    return !trusted.split(".").some((one) => now.has(one));
  });
}

/** What is written on a pod that is started again now: on the sides that it speaks. */
const trustOn = ({ tls }: MemberPod, now: PodTls): PodTrust =>
  trustOf(now, { peer: tls.peer !== "plain", client: tls.client });

function trustOf({ trusts, anchors, presents }: PodTrust, on: Readonly<Record<WireSide, boolean>>): PodTrust {
  const pick = ({ peer, client }: PodTls["trusts"]): PodTls["trusts"] => ({
    ...(on.peer && peer !== undefined && { peer }),
    ...(on.client && client !== undefined && { client }),
  });
  return { trusts: pick(trusts), anchors: pick(anchors), presents: pick(presents) };
}

/** Each is told once: by an annotation, of which nothing but its change matters. */
function stalePods({ pods, tls: { kept, presented } }: ClusterWorld, apart: readonly Apart[]): Certificates["stale"] {
  const leaves = leavesIn(kept);
  return pods
    .filter((pod) => {
      const { uid, renewed, terminating } = pod;
      if (terminating || renewed === leaves) return false;
      if (apart.some((one) => one.pod === pod && one.files === "onTheirWay")) return true;
      const seen = presented.get(uid);
      const differs = (side: WireSide): boolean => {
        const [found, expected] = [seen?.[side], expectedOn(side, kept)];
        return found !== undefined && expected !== "" && found.fingerprint !== expected;
      };
      return differs("peer") || differs("client");
    })
    .map((pod) => ({ pod, leaves }));
}

/** Empty where there is none. */
function expectedOn(side: WireSide, { peer, server }: ClusterWorld["tls"]["kept"]): string {
  const bundle = (side === "peer" ? peer : server)?.bundle;
  return bundle === undefined ? "" : leafFingerprint(bundle);
}

function leavesIn(kept: ClusterWorld["tls"]["kept"]): string {
  const short = (text: string): string => text.replaceAll(":", "").slice(0, 12).toLowerCase();
  return [expectedOn("peer", kept), expectedOn("client", kept)].map(short).join(".");
}

/** By what they are for: in the Secrets of the operator, and on the wire where that shows another one. */
function inUseNow(world: ClusterWorld, now: number): readonly CertificateInUse[] {
  const { kept, authorities, presented } = world.tls;
  const isMade = tlsOf(world.cluster).made;
  const source = isMade ? "made" : "given";
  const warned = (validity: Validity): ExpiryWarning | undefined => {
    const warning = warningOf(validity, now);
    // Those that the operator makes are renewed with thirty days to go.
    return isMade && warning === "30d" ? undefined : warning;
  };
  const leaves = leafUses.flatMap((use): CertificateInUse[] => {
    const inSecret = validityOf(kept[use]?.bundle.pair.cert ?? "");
    if (inSecret === undefined || (use === "client" && !isMade)) return [];
    const side: WireSide | undefined = use === "peer" ? "peer" : use === "server" ? "client" : undefined;
    const old = world.pods.flatMap(({ uid, name }) => {
      const seen = side && presented.get(uid)?.[side];
      const found = seen && { notBefore: inSecret.notBefore, ...validityOf(seen.cert), notAfter: seen.notAfter };
      return found !== undefined && found.notAfter < inSecret.notAfter ? [{ name, validity: found }] : [];
    });
    const [first] = old.toSorted((a, b) => a.validity.notAfter - b.validity.notAfter);
    const validity = first?.validity ?? inSecret;
    return [{ use, source, ...validity, warning: warned(validity), ...(first && { presentedBy: first.name }) }];
  });
  const cas = authorityUses.flatMap((use): CertificateInUse[] => {
    const validity = validityOf(authorities[use]?.cert ?? "");
    if (validity === undefined || !isMade) return [];
    return [{ use, source, ...validity, warning: warned(validity) }];
  });
  return [...leaves, ...cas].filter(({ notAfter }) => Number.isFinite(notAfter));
}

/** Whether members let in who has the Secret of applications, and it trusts them: every one, as far as is known. */
export function clientSecretOpens({ pods, tls: { kept } }: ClusterWorld): boolean {
  const { client, server } = kept;
  if (client === undefined || server === undefined) return false;
  const trusts = signerOf(server.bundle.pair.cert, client.bundle.ca) !== undefined;
  const isLetIn = ({ tls: { anchors } }: MemberPod): boolean =>
    anchors.client === undefined ||
    isAnchored(client.bundle.pair.cert, addToBundle(server.bundle.ca, client.bundle.ca), anchors.client);
  return trusts && pods.filter(({ tls, state }) => tls.client && state.t !== "ended").every(isLetIn);
}

/** Changes when what applications read changes. */
export function clientChecksum({ tls: { kept } }: ClusterWorld): string | undefined {
  const bundle = kept.client?.bundle;
  return bundle && `${bundleFingerprint(bundle.pair.cert)}${bundleFingerprint(bundle.ca)}`;
}
