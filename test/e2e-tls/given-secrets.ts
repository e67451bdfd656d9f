// The Secrets that a person gives for one cluster: made of two CAs, renewed, and replaced by those of other CAs.
import { Secret } from "../../src/kube/objects/kinds.ts";
import type { Key } from "../../src/kube/objects/objects.ts";
import type { Authority } from "../../src/tls/make.ts";
import { kube } from "../e2e/support/environment.ts";
import { authority, leaf, type LeafOptions, putData } from "./support.ts";

export const peerSecret = "peers";
export const serverSecret = "servers";
export const operatorSecret = "operator";
export type GivenName = typeof peerSecret | typeof serverSecret | typeof operatorSecret;

/** The keys of a Secret, without the part before the dot where etcd-operator 0.9 has one. */
export interface Texts {
  readonly crt?: string;
  readonly key?: string;
  readonly ca?: string;
}

export class GivenSecrets {
  readonly #of: Key;
  #cas: Readonly<Record<"peers" | "clients", Authority>>;

  private constructor(of: Key, cas: Readonly<Record<"peers" | "clients", Authority>>) {
    this.#of = of;
    this.#cas = cas;
  }

  /** Not written yet. */
  static async for(of: Key): Promise<GivenSecrets> {
    return new GivenSecrets(of, await newCas());
  }

  async otherCas(): Promise<void> {
    this.#cas = await newCas();
  }

  /** Writes each with a new certificate of the same CA. */
  async renew(...names: readonly GivenName[]): Promise<void> {
    for (const name of names) await this.put(name, await this.good(name));
  }

  /** What can be used. */
  async good(name: GivenName, options: Partial<LeafOptions> = {}): Promise<Required<Texts>> {
    const ca = this.#cas[name === peerSecret ? "peers" : "clients"];
    const use = name === operatorSecret ? "client" : "both";
    const { cert, key } = await leaf(ca, { use, of: this.#of, ...options });
    return { crt: cert, key, ca: ca.cert };
  }

  /** For peers under the names of etcd-operator 0.9, for clients under those of cert-manager. */
  async put(name: GivenName, { crt, key, ca }: Texts): Promise<void> {
    const [prefix, caName] = name === peerSecret ? ["peer", "peer-ca.crt"] : ["tls", "ca.crt"];
    await putData(this.#of.namespace, name, {
      ...(crt !== undefined && { [`${prefix}.crt`]: crt }),
      ...(key !== undefined && { [`${prefix}.key`]: key }),
      ...(ca !== undefined && { [caName]: ca }),
    });
  }

  async remove(name: GivenName): Promise<void> {
    await kube.delete(Secret, { namespace: this.#of.namespace, name });
  }
}

const newCas = async (): Promise<Readonly<Record<"peers" | "clients", Authority>>> => ({
  peers: await authority("peers"),
  clients: await authority("clients"),
});
