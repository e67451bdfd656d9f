// What the tests of TLS share: a lane with an operator of its own, and certificates as a person makes them.
import { after, before } from "node:test";
import { EtcdCluster, type EtcdClusterSpec } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { waitFor } from "../../lab/progress.ts";
import { type PresentedCertificate, presentedCertificate } from "../../src/etcd/presented-certificate.ts";
import { Secret } from "../../src/kube/objects/kinds.ts";
import { type Authority, makeAuthority, makeLeaf } from "../../src/tls/make.ts";
import type { KeyPair } from "../../src/tls/pem.ts";
import { createCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../e2e/support/environment.ts";
import { OperatorProcess } from "../e2e/support/operator-process.ts";
import { untilRolled } from "../e2e/proofs/rolled.ts";
import { Writer } from "../e2e/proofs/writer.ts";
import { freePort } from "../support/free-port.ts";

export interface TlsLane {
  readonly namespace: string;
  readonly cluster: TestCluster;
  readonly writer: Writer;
  /** What its operator has logged. */
  readonly lines: readonly string[];
  /** The metrics of its operator. */
  readonly metrics: () => Promise<string>;
}

/** `prepare`: what has to be there before the cluster is. */
export function tlsLane(
  name: string,
  spec: EtcdClusterSpec,
  prepare: (namespace: string) => Promise<unknown> = async () => {},
): () => TlsLane {
  let made: TlsLane | undefined;
  let operator: OperatorProcess | undefined;
  before(async () => {
    const namespace = await restrictedNamespace(`tls-${name}`);
    const lines: string[] = [];
    const port = await freePort();
    const flags = [`-listen-addr=127.0.0.1:${port}`];
    operator = new OperatorProcess({ namespace, flags, onLine: (line) => lines.push(line) });
    await prepare(namespace);
    const cluster = await createCluster({ namespace, name }, spec);
    // With TLS each member takes long to join: only one that does not move for a while fails.
    await untilRolled(cluster);
    const metrics = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(10_000) })).text();
    made = { namespace, cluster, writer: new Writer(cluster), lines, metrics };
  });
  after(async () => {
    await made?.writer.stop();
    await operator?.kill();
    if (made !== undefined) await kube.delete(EtcdCluster, made.cluster.key);
  });
  return () => {
    if (made === undefined) throw new Error(`the cluster ${name} was never healthy`);
    return made;
  };
}

export const authority = (name: string): Promise<Authority> => makeAuthority(name, Date.now());

/** As a backup tool brings a Secret back: whatever the operator wrote to it since it was read. */
export async function overwrite(secret: Secret, data: Readonly<Record<string, string>>): Promise<void> {
  const { resourceVersion: _, ...metadata } = secret.metadata ?? {};
  await kube.replace(Secret, { ...secret, metadata, data });
}

export interface LeafOptions {
  readonly use: "server" | "client" | "both";
  /** The cluster, as in `shop/demo`. */
  readonly of: { readonly namespace: string; readonly name: string };
  /** Default: now. */
  readonly at?: number;
  readonly names?: readonly string[];
  /** Default: 90 days. */
  readonly lifeMs?: number;
}

/** With the names that etcd-operator 0.9 asked for. */
export function leaf(
  ca: Authority,
  { use, of: { namespace, name }, at = Date.now(), names, lifeMs }: LeafOptions,
): Promise<KeyPair> {
  const members = `*.${name}.${namespace}.svc`;
  const usual =
    use === "client" ? [] : [members, `${members}.cluster.local`, `${name}-client.${namespace}.svc`, "localhost"];
  const request = { commonName: name, names: names ?? usual, use, ...(lifeMs !== undefined && { lifeMs }) };
  return makeLeaf(ca, request, at);
}

/** Under the names of etcd-operator 0.9, or those of cert-manager. */
export async function putSecret(
  namespace: string,
  name: string,
  prefix: "peer" | "server" | "etcd-client" | "tls",
  { cert, key }: KeyPair,
  ca: string,
): Promise<void> {
  const caName = prefix === "tls" ? "ca.crt" : `${prefix}-ca.crt`;
  await putData(namespace, name, { [`${prefix}.crt`]: cert, [`${prefix}.key`]: key, [caName]: ca });
}

/** Exactly these keys, changed at once: nobody sees the Secret missing in between. */
export async function putData(namespace: string, name: string, texts: Readonly<Record<string, string>>): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  await kube.apply(Secret, { metadata: { namespace, name }, data }, { fieldManager: "test", force: true });
}

const never = new AbortController().signal;

/** The certificate that a server presents. One that is slow is asked again. */
export const untilPresented = (url: string): Promise<PresentedCertificate> =>
  waitFor(`${url} to present a certificate`, () => presentedCertificate({ url }, never), { timeoutMs: patience });

export const condition = (cluster: EtcdCluster, type: string) =>
  cluster.status?.conditions?.find((one) => one.type === type);
