// Waits until DNS has the name of this pod and its address under that name, as the peers of a member ask for it. The name
// first: CoreDNS keeps a "no such address" for up to half a minute, so nobody should ask for the address too early.
import { Resolver } from "node:dns/promises";
import { pause } from "../../kube/clock.ts";
import type { AwaitNameJob, Done } from "../job.ts";
import type { JobContext } from "../program/job-context.ts";

/** What is asked of DNS; rejects when there is no such name. */
export interface Names {
  readonly addressesOf: (name: string) => Promise<readonly string[]>;
  readonly namesOf: (address: string) => Promise<readonly string[]>;
}

const everyMs = 100;

export async function awaitName(
  { host, withinSeconds }: AwaitNameJob,
  { address, search, names = systemNames }: { address: string; search: readonly string[]; names?: Names },
  { clock, signal, time }: Pick<JobContext, "clock" | "signal" | "time">,
): Promise<Done> {
  const began = time();
  const full = fullName(host, search);
  const deadline = began + withinSeconds * 1000;
  let lastSeen = await missing(full, address, names);
  while (lastSeen !== undefined && time() < deadline) {
    await pause(clock, everyMs, signal);
    signal.throwIfAborted();
    lastSeen = await missing(full, address, names);
  }
  const found = lastSeen === undefined;
  return { do: "awaitName", found, waitedMs: time() - began, lastSeen: lastSeen ?? `${address} is ${full}` };
}

/** What DNS lacks; undefined: nothing. */
async function missing(name: string, address: string, { addressesOf, namesOf }: Names): Promise<string | undefined> {
  try {
    const addresses = await addressesOf(name);
    if (!addresses.includes(address)) return `${name} is ${addresses.join(", ")}, not ${address}`;
    const names = await namesOf(address);
    return names.includes(name) ? undefined : `${address} is ${names.join(", ")}, not ${name}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Names are asked for in full: the search list of a pod has `svc.<domain>`. */
export function fullName(host: string, search: readonly string[]): string {
  const prefix = "svc.";
  const domain = search.find((one) => one.startsWith(prefix))?.slice(prefix.length);
  return domain === undefined || !host.endsWith(".svc") ? host : `${host}.${domain}`;
}

/** Reads a resolv.conf. */
export function searchList(text: string): readonly string[] {
  const line = text.split("\n").findLast((one) => /^\s*search\s/.test(one)) ?? "";
  return line.trim().split(/\s+/).slice(1);
}

/** A resolver for each question: one that is kept remembers that there was no answer. */
const resolver = (): Resolver => new Resolver({ timeout: 1000, tries: 1 });

const systemNames: Names = {
  addressesOf: async (name) => {
    const [four, six] = await Promise.allSettled([resolver().resolve4(name), resolver().resolve6(name)]);
    const found = [four, six].flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    if (found.length === 0 && four.status === "rejected") throw four.reason;
    return found;
  },
  // Not `reverse`: that looks into /etc/hosts first, where a kubelet has put the address under a short name.
  namesOf: (address) => resolver().resolvePtr(reverseName(address)),
};

/** The name under which DNS keeps the names of an address. */
export function reverseName(address: string): string {
  if (!address.includes(":")) return `${address.split(".").toReversed().join(".")}.in-addr.arpa`;
  const [before = "", after = ""] = address.split("::");
  const groups = (text: string): string[] => text.split(":").filter((group) => group !== "");
  const zeros = Array.from({ length: 8 - groups(before).length - groups(after).length }, () => "0");
  const digits = [...groups(before), ...zeros, ...groups(after)].map((group) => group.padStart(4, "0")).join("");
  return `${digits.split("").toReversed().join(".")}.ip6.arpa`;
}
