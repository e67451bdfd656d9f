// Certificates that were made beforehand: to make one takes real time, which a simulation has none of. They are handed out
// one after another, so that each is new to whoever asks; the last one is followed by the first.
import { withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type Authority, makeAuthority, makeLeaf } from "../../tls/make.ts";
import type { KeyPair } from "../../tls/pem.ts";
import type { Signer } from "../context.ts";
import { requestFor } from "../act/on-secrets.ts";
import { authorityUses, type AuthorityUse, signedBy } from "../objects/tls.ts";

const authoritiesEach = 4;
const leavesEach = 3;

interface Stock {
  readonly authorities: ReadonlyMap<AuthorityUse, readonly Authority[]>;
  /** By the certificate of the CA and the common name. */
  readonly leaves: ReadonlyMap<string, readonly KeyPair[]>;
}

let stock: Promise<Stock> | undefined;

/** For the cluster of this name, in this namespace. Made once in a process. */
export async function signerFor(namespace: string, name: string, now: number): Promise<Signer> {
  stock ??= makeStock(namespace, name, now);
  const { authorities, leaves } = await stock;
  const handedOut = new Map<string, number>();
  const next = <T>(of: string, all: readonly T[] = []): Promise<T> => {
    const number = handedOut.get(of) ?? 0;
    handedOut.set(of, number + 1);
    const one = all[number % all.length];
    return one === undefined ? Promise.reject(new Error(`nothing was made for ${of}`)) : Promise.resolve(one);
  };
  return {
    makeAuthority: (wanted) => {
      const use = authorityUses.find((one) => wanted.endsWith(one)) ?? "peer-ca";
      return next(use, authorities.get(use));
    },
    makeLeaf: ({ cert }, { commonName }) => next(`${cert} ${commonName}`, leaves.get(`${cert} ${commonName}`)),
  };
}

async function makeStock(namespace: string, name: string, now: number): Promise<Stock> {
  const cluster = withDefaults({ metadata: { namespace, name, uid: "uid" }, spec: { size: 1 } });
  const authorities = new Map<AuthorityUse, Authority[]>();
  const leaves = new Map<string, KeyPair[]>();
  for (const use of authorityUses) {
    const made = await Promise.all(
      Array.from({ length: authoritiesEach }, () => makeAuthority(`${namespace} ${name}-${use}`, now)),
    );
    authorities.set(use, made);
    for (const authority of made)
      for (const leaf of signedBy[use]) {
        const request = requestFor(cluster, leaf);
        const pairs = Array.from({ length: leavesEach }, () => makeLeaf(authority, request, now));
        leaves.set(`${authority.cert} ${request.commonName}`, await Promise.all(pairs));
      }
  }
  return { authorities, leaves };
}
