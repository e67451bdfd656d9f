// What is said between the test and the process whose informers it watches.
import type { Observation } from "./checker.ts";
import type { Numbered } from "./numbered.ts";

/** A way to the API server; each gets an informer of every kind. */
export interface Way {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Holds `token` and `ca.crt`, as in a pod. */
  readonly credentials: string;
}

export interface WatchedSettings {
  readonly namespace: string;
  readonly ways: readonly Way[];
}

export interface Footprint {
  /** Bytes, after garbage was collected. */
  readonly rss: number;
  readonly heap: number;
  readonly fileDescriptors: number;
  readonly activeResources: number;
  /** Open connections to the API server. */
  readonly connections: number;
}

export type Question = { readonly ask: "caches" | "footprint"; readonly id: number };

export type Answer =
  | { readonly t: "observed"; readonly observations: readonly { informer: string; what: Observation }[] }
  | { readonly t: "caches"; readonly id: number; readonly caches: Record<string, readonly Numbered[]> }
  | { readonly t: "footprint"; readonly id: number; readonly footprint: Footprint };

export const informerName = (way: string, kind: string): string => `${way}/${kind}`;
