// Which members reach each other by TLS: one that is connected stays so until a process ends or the network fails, and only
// then has to trust, and be trusted, again.
import type { FakeEtcd } from "../../../etcd/testing/fake-etcd.ts";
import { quorum } from "../../assess/instances.ts";
import { memberUrl } from "../../objects/endpoints.ts";
import type { Container } from "../kubelet/containers.ts";
import { type ProcessTls, whyApart } from "./process-tls.ts";

/** In words, why these two could not connect to each other now; undefined: they can, or speak no TLS. */
export function whyTwoAreApart(from: Container, to: Container, now: number): string | undefined {
  if (from === to || from.tls === undefined || to.tls === undefined) return undefined;
  return whyApart(from.tls, to.tls, hostOf(to), now);
}

/** Under which its peers dial it. */
function hostOf({ etcd, key }: Container): string {
  const [url = ""] = etcd?.members.find(({ name }) => name === key.name)?.peerUrls ?? [];
  return url.startsWith("http") ? new URL(url).hostname : "";
}

export class Connections {
  /** Each start of a container has a ProcessTls of its own. */
  #open = new WeakMap<ProcessTls, WeakSet<ProcessTls>>();

  /** The network fails for a moment: all connect again, if they can. */
  break(): void {
    this.#open = new WeakMap();
  }

  /** Those that reach no majority of the voters are cut off, and the others are not. */
  cutOff(etcd: FakeEtcd, running: readonly Container[], now: number): void {
    if (!running.some(({ tls }) => tls?.speaks.peer === "tls")) return;
    const voters = new Set(etcd.members.flatMap(({ learner, name }) => (learner ? [] : [name])));
    const needed = quorum(voters.size);
    const groups = this.#groups(running, now);
    for (const group of groups) {
      // Where all that run are together, it is not certificates that keep the others away.
      const isEnough = groups.length === 1 || group.filter(({ key }) => voters.has(key.name)).length >= needed;
      for (const { address } of group) separate(etcd, memberUrl(address), isEnough ? "running" : "partitioned");
    }
  }

  #groups(running: readonly Container[], now: number): readonly Container[][] {
    const groups: Container[][] = [];
    for (const one of running) {
      const met = groups.filter((group) => group.some((other) => this.#meet(one, other, now)));
      for (const group of met) groups.splice(groups.indexOf(group), 1);
      groups.push([one, ...met.flat()]);
    }
    return groups;
  }

  #meet(a: Container, b: Container, now: number): boolean {
    if (a.tls === undefined || b.tls === undefined) return true;
    const known = this.#open.get(a.tls) ?? new WeakSet();
    if (known.has(b.tls)) return true;
    if (whyTwoAreApart(a, b, now) !== undefined || whyTwoAreApart(b, a, now) !== undefined) return false;
    this.#open.set(a.tls, known.add(b.tls));
    this.#open.set(b.tls, (this.#open.get(b.tls) ?? new WeakSet()).add(a.tls));
    return true;
  }
}

function separate(etcd: FakeEtcd, url: string, state: "running" | "partitioned"): void {
  const process = etcd.processAt(url);
  const isOther = state === "running" ? process?.state === "partitioned" : process?.state === "running";
  if (process !== undefined && isOther) etcd.set(process.name, state);
}
