// What members present on the wire, to their peers and to clients: a file that was renewed may not be in use yet. Looked at
// when something is expected to change, and now and then; kept in memory in between.
import type { PresentedCertificate } from "../../etcd/presented-certificate.ts";
import type { Endpoint } from "../../etcd/members.ts";
import { hostIn } from "../objects/endpoints.ts";
import { ports } from "../objects/labels.ts";
import type { MemberPod } from "./world.ts";

export type Presenter = (endpoint: Endpoint, signal: AbortSignal) => Promise<PresentedCertificate | undefined>;

export type WireSide = "peer" | "client";

export type PresentedBy = Partial<Readonly<Record<WireSide, PresentedCertificate>>>;

export interface WireRead {
  readonly key: string;
  readonly pods: readonly MemberPod[];
  /** Under which it is dialled: etcd 3.2 shows who asks by no name the certificate of its start. */
  readonly serverName: (pod: MemberPod) => string;
  /** The certificate with which each side is dialled, and the one that it should present. */
  readonly sides: Partial<Readonly<Record<WireSide, { readonly tls: Endpoint["tls"]; readonly expected: string }>>>;
  readonly now: number;
  readonly signal: AbortSignal;
}

interface PresentedRead {
  readonly at: number;
  readonly found: PresentedCertificate | undefined;
  /** What it should have presented. */
  readonly expected: string;
  /** How often in a row nothing could be found out, with the same certificate expected. */
  readonly misses: number;
}

const requeueAfter = 600_000;
const whileItDiffers = 1000;
/** Reading a port that a network policy closes holds up its reconcile for as long as the handshake is waited for. */
const longestPause = 60_000;

export class Wire {
  readonly #present: Presenter;
  readonly #reads = new Map<string, ReadonlyMap<string, PresentedRead>>();

  constructor(present: Presenter) {
    this.#present = present;
  }

  /** By the uid of the pod. */
  async read({ key, pods, serverName, sides, now, signal }: WireRead): Promise<ReadonlyMap<string, PresentedBy>> {
    const before = this.#reads.get(key) ?? new Map<string, PresentedRead>();
    const asked = pods.flatMap((pod) =>
      sidesOf(pod).flatMap((side) => {
        const dialled = sides[side];
        return dialled === undefined ? [] : [{ pod, side, dialled }];
      }),
    );
    const reads = await Promise.all(
      asked.map(async ({ pod, side, dialled }) => {
        const last = before.get(readKey(pod, side));
        if (last !== undefined && !isDue(last, dialled.expected, now)) return { pod, side, read: last };
        const { address = "" } = pod;
        const { expected, tls } = dialled;
        const url = `https://${hostIn(address)}:${ports[side]}`;
        const found = await this.#present({ url, serverName: serverName(pod), ...(tls && { tls }) }, signal);
        const misses = found === undefined ? 1 + (last?.expected === expected ? last.misses : 0) : 0;
        return { pod, side, read: { at: now, found, expected, misses } };
      }),
    );
    if (reads.length === 0) this.#reads.delete(key);
    else this.#reads.set(key, new Map(reads.map(({ pod, side, read }) => [readKey(pod, side), read])));
    const presented = new Map<string, PresentedBy>();
    for (const { pod, side, read } of reads)
      if (read.found !== undefined) presented.set(pod.uid, { ...presented.get(pod.uid), [side]: read.found });
    return presented;
  }

  forget(key: string): void {
    this.#reads.delete(key);
  }
}

const readKey = ({ uid }: MemberPod, side: WireSide): string => `${uid} ${side}`;

/** After each miss in twice the time, until another certificate is expected: 1 s, 2 s, 4 s, up to a minute. */
function isDue({ at, found, expected: before, misses }: PresentedRead, expected: string, now: number): boolean {
  if (found === undefined && before === expected)
    return now - at >= Math.min(whileItDiffers * 2 ** (misses - 1), longestPause);
  const isExpected = found !== undefined && found.fingerprint === expected;
  return now - at >= (isExpected ? requeueAfter : whileItDiffers);
}

/** On which it can be read now. */
function sidesOf({ address, state, tls }: MemberPod): WireSide[] {
  if (address === undefined || state.t !== "running") return [];
  return [...(tls.peer === "tls" ? (["peer"] as const) : []), ...(tls.client ? (["client"] as const) : [])];
}
