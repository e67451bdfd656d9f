// What the certificates of a cluster should be: those that were given, if they are good, or those that the operator made. A
// bad one is a problem with a sentence, and is not wanted: what serves goes on with what it has.
import { includes, signerOf } from "../../../tls/ca-bundle.ts";
import { checkBundle, checkSecret, type Expected } from "../../../tls/check.ts";
import { renewAt } from "../../../tls/validity.ts";
import { type Bundle, certificatesIn, type KeyPair, readBundle } from "../../../tls/pem.ts";
import { isProblem, type Problem } from "../../../tls/problem.ts";
import { keyNamesOf } from "../../objects/secrets.ts";
import {
  type AuthorityUse,
  type GivenUse,
  type LeafUse,
  rotateCaAnnotation,
  secretName,
  signedBy,
  tlsOf,
} from "../../objects/tls.ts";
import type { GivenSecret, ClusterWorld } from "../../observe/world.ts";
import { namesExpected, namesFor } from "./certificate-names.ts";

export interface CertificateProblem {
  readonly use: GivenUse;
  readonly secret: string;
  readonly t: Problem["t"] | "forbidden" | "unread";
  /** Names the Secret. */
  readonly sentence: string;
}

export interface ToMake {
  readonly authority: AuthorityUse;
  /** A CA and all that it signs; only what is due; or nothing, and the previous CA is forgotten with its key. */
  readonly what: "authority" | "withoutPrevious" | readonly LeafUse[];
  /** By the previous CA. Absent: by the current one. */
  readonly by?: "previous";
  readonly because: string;
}

export interface Wanted {
  readonly bundles: Partial<Readonly<Record<LeafUse, Bundle>>>;
  /** What the previous CA has signed, while its key is kept: members that run may trust no other. */
  readonly before: Partial<Readonly<Record<LeafUse, Bundle>>>;
  readonly problems: readonly CertificateProblem[];
  readonly toMake: readonly ToMake[];
}

export function wantedCertificates(world: ClusterWorld, now: number): Wanted {
  return tlsOf(world.cluster).made ? made(world, now) : { ...given(world, now), before: {}, toMake: [] };
}

// Given

const purposes = { peer: "both", server: "server", operator: "client" } as const;

function given(world: ClusterWorld, now: number): Pick<Wanted, "bundles" | "problems"> {
  const { cluster, tls } = world;
  const bundles: Partial<Record<GivenUse, Bundle>> = {};
  const problems: CertificateProblem[] = [];
  const uses = (["peer", "server", "operator"] as const).filter((use) => tls.given[use] !== undefined);
  for (const use of uses) {
    const secret = tls.given[use];
    if (secret === undefined) continue;
    const expected: Expected = {
      names: namesExpected(world, use),
      use: purposes[use],
      // Members and clients may have different CAs: each side's certificate must be of the CA that the other trusts.
      ...signedByOther(use, tls.given),
    };
    const found = judged(use, secret, expected, now);
    if ("sentence" in found) problems.push({ use, secret: secret.name, ...found });
    else if (use === "peer" && !isFoundByDns(found, cluster.metadata))
      problems.push({ use, secret: secret.name, ...notFoundByDns(secret.name, cluster.metadata) });
    else bundles[use] = found;
  }
  // Servers and the operator must get along: one without the other is of no use.
  const { server, operator, ...rest } = bundles;
  return { bundles: server && operator ? bundles : rest, problems };
}

function signedByOther(use: GivenUse, secrets: ClusterWorld["tls"]["given"]): Pick<Expected, "signedBy"> {
  if (use === "peer") return {};
  const other = use === "server" ? "operator" : "server";
  const secret = secrets[other];
  const bundle = secret?.t === "there" ? readBundle(keyNamesOf(other), secret.data) : undefined;
  return bundle === undefined || isProblem(bundle) ? {} : { signedBy: bundle.ca };
}

function judged(
  use: GivenUse,
  secret: GivenSecret,
  expected: Expected,
  now: number,
): Bundle | Pick<CertificateProblem, "t" | "sentence"> {
  const { name } = secret;
  if (secret.t === "absent") return { t: "missing", sentence: `The Secret ${name} does not exist. Create it.` };
  if (secret.t === "forbidden")
    return {
      t: "forbidden",
      sentence: `The operator may not read the Secret ${name}. Grant it what example/rbac lists.`,
    };
  if (secret.t === "unread")
    return { t: "unread", sentence: `The Secret ${name} could not be read: ${secret.why}. It is tried again.` };
  const found = checkSecret(keyNamesOf(use), secret.data, expected, now);
  return isProblem(found) ? { t: found.t, sentence: `Secret ${name}: ${found.sentence}` } : found;
}

type Named = ClusterWorld["cluster"]["metadata"];

/**
 * etcd asks DNS for the name of a peer's address, and looks for that in the peer's certificate. DNS answers with the
 * domain of the Kubernetes cluster, which is not known here where `spec.pod.ClusterDomain` does not say it.
 */
function isFoundByDns({ pair }: Bundle, { name, namespace }: Named): boolean {
  const names = certificatesIn(pair.cert)?.[0].subjectAltName ?? "";
  return names.includes(`DNS:*.${name}.${namespace}.svc.`) || names.includes("IP Address:");
}

const notFoundByDns = (secret: string, { name, namespace }: Named): Pick<CertificateProblem, "t" | "sentence"> => ({
  t: "wrongNames",
  sentence: `Secret ${secret}: the certificate must cover *.${name}.${namespace}.svc with the domain of your Kubernetes cluster behind it, as in *.${name}.${namespace}.svc.cluster.local, too: that is what DNS calls the address of a member.`,
});

// Made

export const madeFor = { peer: "both", server: "both", operator: "client", client: "client" } as const;

function made(world: ClusterWorld, now: number): Wanted {
  const bundles: Partial<Record<LeafUse, Bundle>> = {};
  const before: Partial<Record<LeafUse, Bundle>> = {};
  const toMake: ToMake[] = [];
  for (const authority of ["peer-ca", "client-ca"] as const) {
    const because = whyNewAuthority(world, authority, now);
    const kept = world.tls.authorities[authority];
    if (because !== undefined) toMake.push({ authority, what: "authority", because });
    if (kept === undefined) continue;
    const due = signedBy[authority].filter((use) => isDue(world, use, kept.cert, kept.leaves[use], now));
    if (because === undefined && due.length > 0)
      toMake.push({
        authority,
        what: due,
        because: "two thirds of their lifetime have passed, or their names have changed",
      });
    for (const use of signedBy[authority]) {
      const pair = kept.leaves[use];
      if (pair !== undefined && !due.includes(use)) bundles[use] = { ca: kept.cert, pair };
      const old = kept.previous?.leaves[use];
      if (kept.previous && old) before[use] = { ca: kept.previous.cert, pair: old };
    }
    if (because === undefined) toMake.push(...ofPrevious(world, authority, now));
  }
  return { bundles, before, problems: [], toMake };
}

/** Its certificates are renewed for as long as they are in use, however long members are kept from trusting the new CA. */
function ofPrevious(world: ClusterWorld, authority: AuthorityUse, now: number): readonly ToMake[] {
  const previous = world.tls.authorities[authority]?.previous;
  if (previous === undefined) return [];
  if (!isNeeded(world, authority, previous.cert))
    return [{ authority, what: "withoutPrevious", because: "no certificate of the previous CA is in use any more" }];
  const due = signedBy[authority].filter((use) => {
    const [inUse, last] = [world.tls.kept[use]?.bundle.pair, previous.leaves[use]];
    const isOfPrevious = inUse !== undefined && signerOf(inUse.cert, previous.cert) !== undefined;
    return isOfPrevious && isDue(world, use, previous.cert, last, now);
  });
  const because = "two thirds of their lifetime have passed, and not every member trusts the new CA yet";
  return due.length === 0 ? [] : [{ authority, what: due, by: "previous", because }];
}

/** A certificate of this CA is in use, or it is still trusted. A Secret that is not there may have been lost. */
function isNeeded(world: ClusterWorld, authority: AuthorityUse, cert: string): boolean {
  return signedBy[authority].some((use) => {
    const bundle = world.tls.kept[use]?.bundle;
    return bundle === undefined || includes(bundle.ca, cert) || signerOf(bundle.pair.cert, cert) !== undefined;
  });
}

/** Whether a certificate of this CA is in use. */
export function isInUse({ tls }: Pick<ClusterWorld, "tls">, authority: AuthorityUse, cert: string): boolean {
  return signedBy[authority].some((use) => signerOf(tls.kept[use]?.bundle.pair.cert ?? "", cert) !== undefined);
}

function whyNewAuthority({ cluster, tls }: ClusterWorld, use: AuthorityUse, now: number): string | undefined {
  const kept = tls.authorities[use];
  const damage = tls.damaged[use];
  if (damage !== undefined) return `${secretName(cluster, use)} was damaged: ${damage.why}`;
  if (kept === undefined) return `there is no ${secretName(cluster, use)} yet`;
  const asked = cluster.metadata.annotations?.[rotateCaAnnotation];
  if (asked !== undefined && asked !== kept.rotated) return "a new CA was asked for";
  return now >= renewAt(kept.cert) ? "two thirds of its lifetime have passed" : undefined;
}

function isDue(world: ClusterWorld, use: LeafUse, ca: string, pair: KeyPair | undefined, now: number): boolean {
  if (pair === undefined || now >= renewAt(pair.cert)) return true;
  const expected = { names: namesFor(world, use), use: madeFor[use] };
  return checkBundle({ ca, pair }, expected, now) !== undefined;
}
