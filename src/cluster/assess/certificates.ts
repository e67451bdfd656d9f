// Certificates, judged once: what is wrong with those that were given, what the operator's Secrets should hold next, what a
// pod speaks that is made now, and what expires. The order in which a changed CA is taken over is in src/tls.
import { bundleFingerprint, signerOf } from "../../tls/ca-bundle.ts";
import { nextOnClientSide } from "../../tls/client-trust.ts";
import { leafLifeMs } from "../../tls/make.ts";
import type { Bundle } from "../../tls/pem.ts";
import { nextBundle } from "../../tls/trust.ts";
import { expiryOf, type ExpiryWarning, warningOf } from "../../tls/validity.ts";
import {
  authorityUses,
  leafUses,
  type LeafUse,
  type PodTls,
  plainText,
  type SecretUse,
  tlsOf,
} from "../objects/tls.ts";
import { leafFingerprint } from "../observe/tls.ts";
import type { WireSide } from "../observe/wire.ts";
import type { MemberPod, World } from "../observe/world.ts";
import { podTlsOf } from "./pod-tls.ts";
import { type CertificateProblem, type ToMake, type Wanted, wantedCertificates } from "./wanted-certificates.ts";

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
  /** What the next step waits for; undefined: nothing. */
  readonly waits: string | undefined;
  /** Pods of which it is not known what they trust, as those that another operator made. */
  readonly unknown: readonly PodNote[];
  /** Pods that present another certificate than the one in the Secret, and have not been told yet. */
  readonly stale: readonly { readonly pod: MemberPod; readonly leaves: string }[];
  readonly problems: readonly CertificateProblem[];
  readonly inUse: readonly CertificateInUse[];
  /** Milliseconds. */
  readonly lookAgainAfter: number;
}

export interface CertificateWrite {
  readonly bundle: Bundle;
  readonly graceFrom: number | undefined;
  readonly because: string;
}

export interface PodNote {
  readonly pod: MemberPod;
  readonly tls: Pick<PodTls, "trusts" | "presents">;
}

export interface CertificateInUse {
  readonly use: SecretUse;
  /** By a person, or by the operator, which also renews it. */
  readonly source: "given" | "made";
  /** Milliseconds since the epoch: of what members present, if that is earlier. */
  readonly notAfter: number;
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
  waits: undefined,
  unknown: [],
  stale: [],
  problems: [],
  inUse: [],
  lookAgainAfter: Number.POSITIVE_INFINITY,
};

export function certificatesOf(world: World, now: number): Certificates {
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
      lookAgainAfter: later,
    };
  // A spec that cannot be followed says nothing about certificates either.
  const wanted = world.problems.length > 0 ? nothingWanted : wantedCertificates(world, now);
  const peers = peerWrites(world, wanted, now);
  const clients = clientWrites(world, wanted, now);
  const made = podTlsOf(world);
  const sentences = wanted.problems.map(({ sentence }) => sentence);
  const steps = [...peers.writes, ...clients.writes];
  return {
    pods: made.t === "tls" ? made.tls : undefined,
    blocked: made.t === "none" ? [made.why, ...sentences].join(". ").replace(/\.$/, "") : undefined,
    unfinished: made.t === "tls" && world.problems.length === 0 ? unfinishedIn(world, made.tls) : undefined,
    toMake: wanted.toMake,
    writes: new Map(steps),
    waits: peers.waits ?? clients.waits,
    unknown: steps.length > 0 || made.t === "none" ? [] : unknownPods(world, made.tls),
    stale: stalePods(world),
    problems: wanted.problems,
    inUse: inUseNow(world, now),
    lookAgainAfter: Math.min(peers.lookAgainAfter ?? never, clients.lookAgainAfter ?? never),
  };
}

function unfinishedIn({ cluster }: World, now: PodTls): string | undefined {
  const asked = tlsOf(cluster);
  if (now.peer === (asked.peer ? "tls" : "plain") && now.client === asked.client) return undefined;
  return now.peer === "ready"
    ? "TLS between members is turned on or off in two steps, of which one is not over"
    : "TLS is asked for, and there are no certificates for it yet";
}

const nothingWanted: Wanted = { bundles: {}, problems: [], toMake: [] };

/** Milliseconds. */
const soon = 1000;
const later = 2000;
/** A kubelet brings a changed Secret into its pods within a minute and a half. */
const graceWhenAsked = 90_000;

interface SideSteps {
  readonly writes: readonly (readonly [LeafUse, CertificateWrite])[];
  readonly waits?: string;
  readonly lookAgainAfter?: number;
}

const nothing: SideSteps = { writes: [] };

/** A roll brings its own looks; a kubelet that brings a file says nothing. */
const waiting = (waits: string, lookAgainAfter: number): SideSteps => ({ writes: [], waits, lookAgainAfter });
const never = Number.POSITIVE_INFINITY;

function peerWrites(world: World, { bundles }: Wanted, now: number): SideSteps {
  if (bundles.peer === undefined) return nothing;
  const effective = world.tls.kept.peer?.bundle;
  const next = nextBundle({ effective, wanted: bundles.peer, ...seenOf(world, "peer", effective?.ca), now });
  if (next.t === "settled") return nothing;
  if (next.t !== "write") return waiting(next.because, next.t === "waitForLeaf" ? soon : never);
  return { writes: [["peer", { bundle: next.bundle, graceFrom: undefined, because: next.because }]] };
}

function clientWrites(world: World, { bundles }: Wanted, now: number): SideSteps {
  const { kept } = world.tls;
  const { server, operator, client } = bundles;
  const needsClient = tlsOf(world.cluster).made;
  if (server === undefined || operator === undefined || (needsClient && client === undefined)) return nothing;
  const missing = missingOnClientSide(bundles, world, now);
  if (missing.length > 0) return { writes: missing };
  const applications = client && {
    effective: kept.client?.bundle,
    wanted: client,
    changedAt: kept.client?.graceFrom ?? 0,
    grace: graceOf(world),
  };
  const next = nextOnClientSide({
    server: { effective: kept.server?.bundle, wanted: server },
    operator: { effective: kept.operator?.bundle, wanted: operator },
    ...(applications && { applications }),
    ...seenOf(world, "client", kept.operator?.bundle.ca),
    now,
  });
  if (next.t === "settled") return nothing;
  if (next.t === "waitForApplications") return waiting(next.because, next.until - now);
  if (next.t !== "write") return waiting(next.because, next.t === "waitForLeaf" ? soon : never);
  const use = next.secret === "applications" ? "client" : next.secret;
  const graceFrom = next.startsGrace ? now : kept[use]?.graceFrom || undefined;
  return { writes: [[use, { bundle: next.bundle, graceFrom, because: next.because }]] };
}

/** Those that are not there can be written in any order. */
function missingOnClientSide(bundles: Wanted["bundles"], { tls }: World, now: number): SideSteps["writes"] {
  return (["server", "operator", "client"] as const).flatMap((use) => {
    const bundle = bundles[use];
    if (bundle === undefined || tls.kept[use] !== undefined) return [];
    const graceFrom = use === "client" ? now : undefined;
    return [[use, { bundle, graceFrom, because: "there is none yet" }] as const];
  });
}

/** A CA that grew old is exchanged at leisure; who asks for another one wants it soon. */
function graceOf({ tls }: World): number {
  return tls.authorities["client-ca"]?.rotated === undefined ? leafLifeMs : graceWhenAsked;
}

/** What the members that speak TLS on this side trust, and what they present. */
function seenOf(
  { pods, tls: { kept, presented } }: World,
  side: WireSide,
  ca: string | undefined,
): { trusted: string[]; presented: (string | undefined)[] } {
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
    presented: speaking.map(presentedBy),
  };
}

const signerIn = ({ pair }: Bundle, ca: string | undefined): string | undefined => signerOf(pair.cert, ca ?? "");

/** They were started with what is there now, for all that is known: nothing was changed since the operator came. */
function unknownPods({ pods, tls: { kept } }: World, now: PodTls): readonly PodNote[] {
  return pods
    .filter(({ state, terminating }) => state.t !== "ended" && !terminating)
    .flatMap((pod) => {
      const { peer, client, trusts } = pod.tls;
      const lacks = {
        peer: peer !== "plain" && trusts.peer === undefined && kept.peer !== undefined,
        client: client && trusts.client === undefined && kept.server !== undefined,
      };
      if (!lacks.peer && !lacks.client) return [];
      const pick = (sides: PodTls["trusts"]): PodTls["trusts"] => ({
        ...(lacks.peer && sides.peer !== undefined && { peer: sides.peer }),
        ...(lacks.client && sides.client !== undefined && { client: sides.client }),
      });
      return [{ pod, tls: { trusts: pick(now.trusts), presents: pick(now.presents) } }];
    });
}

/** Each is told once: by an annotation, of which nothing but its change matters. */
function stalePods({ pods, tls: { kept, presented } }: World): Certificates["stale"] {
  const fingerprints = { peer: kept.peer?.bundle, client: kept.server?.bundle };
  const expected = (side: WireSide): string => {
    const bundle = fingerprints[side];
    return bundle === undefined ? "" : leafFingerprint(bundle);
  };
  const short = (text: string): string => text.replaceAll(":", "").slice(0, 12).toLowerCase();
  const leaves = [expected("peer"), expected("client")].map(short).join(".");
  return pods
    .filter(({ uid, renewed, terminating }) => {
      const seen = presented.get(uid);
      if (seen === undefined || terminating || renewed === leaves) return false;
      const differs = (side: WireSide): boolean => {
        const found = seen[side];
        return found !== undefined && expected(side) !== "" && found.fingerprint !== expected(side);
      };
      return differs("peer") || differs("client");
    })
    .map((pod) => ({ pod, leaves }));
}

/** By what they are for: in the Secrets of the operator, and on the wire where that shows another one. */
function inUseNow(world: World, now: number): readonly CertificateInUse[] {
  const { kept, authorities, presented } = world.tls;
  const isMade = tlsOf(world.cluster).made;
  const source = isMade ? "made" : "given";
  const warned = (notAfter: number): ExpiryWarning | undefined => {
    const warning = warningOf(notAfter, now);
    // Those that the operator makes are renewed with thirty days to go.
    return isMade && warning === "30d" ? undefined : warning;
  };
  const leaves = leafUses.flatMap((use): CertificateInUse[] => {
    const bundle = kept[use]?.bundle;
    if (bundle === undefined || (use === "client" && !isMade)) return [];
    const inSecret = expiryOf(bundle.pair.cert);
    const side: WireSide | undefined = use === "peer" ? "peer" : use === "server" ? "client" : undefined;
    const old = world.pods.flatMap(({ uid, name }) => {
      const seen = side && presented.get(uid)?.[side];
      return seen !== undefined && seen.notAfter < inSecret ? [{ name, notAfter: seen.notAfter }] : [];
    });
    const [first] = old.toSorted((a, b) => a.notAfter - b.notAfter);
    const notAfter = first?.notAfter ?? inSecret;
    return [{ use, source, notAfter, warning: warned(notAfter), ...(first && { presentedBy: first.name }) }];
  });
  const cas = authorityUses.flatMap((use): CertificateInUse[] => {
    const cert = authorities[use]?.cert;
    if (cert === undefined || !isMade) return [];
    return [{ use, source, notAfter: expiryOf(cert), warning: warned(expiryOf(cert)) }];
  });
  return [...leaves, ...cas].filter(({ notAfter }) => Number.isFinite(notAfter));
}

/** Changes when what applications read changes. */
export function clientChecksum({ tls: { kept } }: World): string | undefined {
  const bundle = kept.client?.bundle;
  return bundle && `${bundleFingerprint(bundle.pair.cert)}${bundleFingerprint(bundle.ca)}`;
}
