// Certificates that are made once in a process and handed out in every simulation: to make one takes real time, for which the
// simulated clock stands still. They are handed out one after another, so that each is new to whoever asks.
import { type Authority, makeAuthority, makeLeaf } from "../../../tls/make.ts";
import type { KeyPair } from "../../../tls/pem.ts";
import type { Key } from "../../../kube/objects/objects.ts";
import type { Signer } from "../../context.ts";
import { type CompleteEtcdCluster, withDefaults } from "../../../api/etcd-cluster/etcd-cluster.ts";
import { requestFor } from "../../act/on-secrets.ts";
import { authorityUses, type AuthorityUse, type LeafUse, namesToMake, signedBy } from "../../objects/tls.ts";

const dayMs = 86_400_000;

/** By what is asked for and on which day. */
const authorities = new Map<string, Promise<Authority>[]>();
const leaves = new Map<string, Promise<KeyPair>[]>();

/** The signer of one simulation. */
export function signerFor(): Signer {
  const handedOut = new Map<string, number>();
  const next = <T>(made: Map<string, Promise<T>[]>, what: string, make: () => Promise<T>): Promise<T> => {
    const number = handedOut.get(what) ?? 0;
    handedOut.set(what, number + 1);
    const all = made.get(what) ?? [];
    made.set(what, all);
    return (all[number] ??= make());
  };
  // Another simulation may ask for it earlier on that day, and it has to be valid there, too.
  const dayOf = (now: number): number => now - (now % dayMs);
  return {
    makeAuthority: (name, now) => {
      const use = authorityUses.find((one) => name.endsWith(one)) ?? "peer-ca";
      return next(authorities, `${use} ${dayOf(now)}`, () => makeAuthority(name, dayOf(now)));
    },
    makeLeaf: (authority, request, now) => {
      const what = `${authority.cert} ${JSON.stringify(request)} ${dayOf(now)}`;
      return next(leaves, what, () => makeLeaf(authority, request, dayOf(now)));
    },
  };
}

const namesIn = (cluster: CompleteEtcdCluster, leaf: LeafUse): readonly string[] =>
  leaf === "peer" || leaf === "server" ? namesToMake(cluster, leaf) : [];

/** Milliseconds between two certificates that live for so long. */
const stepMs = 60_000;

/**
 * Certificates that live for minutes and not for months, of which time passes in a simulation: for each minute of `forMs` there
 * is one. They are made for the test.
 */
export async function shortLivedSigner(of: Key, now: number, lifeMs: number, forMs: number): Promise<Signer> {
  const cluster = withDefaults({ metadata: { ...of, uid: "uid" }, spec: { size: 1 } });
  const authorities: Authority[] = [];
  const leaves = new Map<string, KeyPair[]>();
  for (const use of [...authorityUses, ...authorityUses]) {
    const authority = await makeAuthority(`${of.namespace} ${of.name}-${use} ${authorities.length}`, now);
    authorities.push(authority);
    for (const leaf of signedBy[use]) {
      const request = { ...requestFor(cluster, leaf, namesIn(cluster, leaf)), lifeMs };
      const times = Array.from({ length: Math.ceil(forMs / stepMs) }, (_, n) => now + n * stepMs);
      const made = await Promise.all(times.map((at) => makeLeaf(authority, request, at)));
      leaves.set(`${authority.cert} ${request.commonName}`, made);
    }
  }
  const handedOut = new Map<AuthorityUse, number>();
  return {
    makeAuthority: (wanted) => {
      const use = authorityUses.find((one) => wanted.endsWith(one)) ?? "peer-ca";
      const number = handedOut.get(use) ?? 0;
      handedOut.set(use, number + 1);
      const one = authorities[number * authorityUses.length + authorityUses.indexOf(use)];
      return one === undefined ? Promise.reject(new Error(`no more ${use} was made`)) : Promise.resolve(one);
    },
    makeLeaf: ({ cert }, { commonName }, at) => {
      const one = leaves.get(`${cert} ${commonName}`)?.[Math.floor((at - now) / stepMs)];
      return one === undefined ? Promise.reject(new Error(`no ${commonName} was made`)) : Promise.resolve(one);
    },
  };
}
