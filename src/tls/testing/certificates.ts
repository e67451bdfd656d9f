// CAs with certificates of theirs under short names, for tests of trust: who trusts whom is then a matter of letters.
import { bundleFingerprint } from "../ca-bundle.ts";
import { type Authority, makeAuthority, makeLeaf } from "../make.ts";
import type { Bundle, KeyPair } from "../pem.ts";

export const now: number = Date.parse("2026-11-17T12:00:00Z");

export type Letter = "A" | "B" | "C";
export const letters: readonly Letter[] = ["A", "B", "C"];

/** The CAs that a bundle trusts and whose certificate it presents, the latter with a number: renewals have another. */
export interface CertificatePlan {
  readonly trusts: readonly Letter[];
  readonly presents: `${Letter}${1 | 2}`;
}

export interface Pool {
  authority(letter: Letter): Authority;
  leaf(name: CertificatePlan["presents"]): KeyPair;
  ca(letters: readonly Letter[]): string;
  bundle(plan: CertificatePlan): Bundle;
  /** The plan of a bundle, to judge by letters what PEM texts mean. */
  planOf(bundle: Bundle): CertificatePlan;
}

export async function makePool(): Promise<Pool> {
  const authorities = new Map<Letter, Authority>();
  const leaves = new Map<CertificatePlan["presents"], KeyPair>();
  for (const letter of letters) {
    const authority = await makeAuthority(letter, now);
    authorities.set(letter, authority);
    for (const number of [1, 2] as const) {
      const request = { commonName: letter, names: ["*.c.ns.svc"], use: "both" } as const;
      // A renewal is a little younger.
      leaves.set(`${letter}${number}`, await makeLeaf(authority, request, now + (number - 1) * 60_000));
    }
  }
  const authority = (letter: Letter): Authority => known(authorities, letter);
  const leaf = (name: CertificatePlan["presents"]): KeyPair => known(leaves, name);
  const ca = (trusted: readonly Letter[]): string => trusted.map((letter) => authority(letter).cert).join("");
  const sets = subsets(letters).map((set) => [bundleFingerprint(ca(set)), set] as const);
  return {
    authority,
    leaf,
    ca,
    bundle: ({ trusts, presents }) => ({ ca: ca(trusts), pair: leaf(presents) }),
    planOf: ({ ca, pair }) => ({
      trusts: known(new Map(sets), bundleFingerprint(ca)),
      presents: known(new Map([...leaves].map(([name, { cert }]) => [cert, name])), pair.cert),
    }),
  };
}

/** The CA of a leaf. */
export function signs(presents: CertificatePlan["presents"]): Letter {
  const letter = letters.find((one) => presents.startsWith(one));
  if (letter === undefined) throw new Error(`${presents} has no CA`);
  return letter;
}

function known<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`the pool has no ${String(key)}`);
  return value;
}

function subsets(all: readonly Letter[]): Letter[][] {
  const [first, ...others] = all;
  return first === undefined ? [[]] : subsets(others).flatMap((set) => [set, [first, ...set]]);
}
