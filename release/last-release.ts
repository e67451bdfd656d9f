// What the last release granted and was called, kept in the tree so that the next one can say what differs:
// `node release/last-release.ts` records the version of this tree, as the last step of a release.
import { readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { atHome, ofPeople, onClusters, onKubernetes, type Rule, rulesOf } from "../install/permissions.ts";
import { version } from "../src/version.ts";

/** Where a rule holds, in the words of docs/install.md. */
export const places = {
  onClusters: "managed namespaces",
  onKubernetes: "whole Kubernetes cluster",
  atHome: "its own namespace",
  view: "people with the role view",
  edit: "people with the role edit",
} as const;
export type Place = keyof typeof places;
export type Rules = Readonly<Record<Place, readonly Rule[]>>;

interface LastRelease {
  /** Absent before the first release. */
  readonly version?: string;
  readonly rules: Rules;
}

const file = path.join(import.meta.dirname, "last-release.json");

export const lastRelease = JSON.parse(readFileSync(file, "utf8")) as LastRelease;

/** Those of this tree. */
export const currentRules: Rules = {
  onClusters: rulesOf(onClusters),
  onKubernetes: rulesOf(onKubernetes),
  atHome: rulesOf(atHome),
  ...ofPeople,
};

if (import.meta.main) writeFileSync(file, `${JSON.stringify({ version, rules: currentRules }, undefined, 2)}\n`);
