// TLS as the processes of an in-memory etcd have it: a CA bundle is read when a process starts, a certificate at each
// handshake, and a kubelet brings a changed Secret into a pod some time later. Who does not trust whom is refused, and so is
// who shows what has expired, or is called otherwise.
import { createPrivateKey, type X509Certificate } from "node:crypto";
import type { Endpoint } from "../../../etcd/members.ts";
import type { PresentedCertificate } from "../../../etcd/presented-certificate.ts";
import { Pod, Secret } from "../../../kube/objects/kinds.ts";
import type { FinishedCall } from "../../../kube/testing/fake-api/calls.ts";
import { signerOf } from "../../../tls/ca-bundle.ts";
import { certificatesIn, type KeyPair } from "../../../tls/pem.ts";
import { decoded } from "../../objects/secrets.ts";
import type { PodTls } from "../../objects/tls.ts";
import { observedPod } from "../../observe/pods.ts";

type Files = Readonly<Record<string, string>>;

interface Written {
  readonly files: Files;
  readonly at: number;
}

/** What others write on the Secrets of an operator, and expect to find there. */
export const theirAnnotation = "replicator.example.com/replicate-to";

/** A kubelet reads the Secrets of its pods about once a minute, and when it hears of a change of the pod. */
const broughtAfterMs = 60_000;

/** TLS of one container. */
export interface ProcessTls {
  readonly speaks: Pick<PodTls, "peer" | "client">;
  /** What it read when it started. */
  readonly trusts: { readonly peer: string; readonly client: string };
  /** What its kubelet has brought it. */
  files: { readonly peer: Files; readonly server: Files };
  renewed: string | undefined;
  /** Names of the Secrets that its pod mounts. */
  readonly names: SecretNames;
  broughtAt: number;
}

interface SecretNames {
  readonly peer: string | undefined;
  readonly server: string | undefined;
}

export class ClusterSecrets {
  readonly #written = new Map<string, Written>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  heard({ kind, verb, object }: FinishedCall): void {
    const { name = "" } = object?.metadata ?? {};
    if (kind !== Secret.kind || object === undefined) return;
    if (verb === "delete") this.#written.delete(name);
    // The server keeps Secrets under this kind.
    else this.#written.set(name, { files: decoded(object as Secret), at: this.#now() });
  }

  files(name: string): Files | undefined {
    return this.#written.get(name)?.files;
  }

  /** TLS of a process that starts now; undefined while a Secret that its pod mounts is not there. */
  begin(pod: Pod): ProcessTls | undefined {
    const mounted = this.#files(namesIn(pod));
    if (mounted === undefined) return undefined;
    const { tls, renewed } = observedPod(pod, undefined);
    return {
      speaks: tls,
      trusts: { peer: mounted.peer["peer-ca.crt"] ?? "", client: mounted.server["server-ca.crt"] ?? "" },
      files: mounted,
      renewed,
      names: namesIn(pod),
      broughtAt: this.#now(),
    };
  }

  /** The pod was changed. */
  bring(pod: Pod, process: ProcessTls): void {
    const { renewed } = observedPod(pod, undefined);
    if (renewed !== process.renewed) this.#bring(process);
    process.renewed = renewed;
  }

  /** Time has passed. */
  refresh(process: ProcessTls): void {
    const isOld = [process.names.peer, process.names.server].some((name) => {
      const at = this.#written.get(name ?? "")?.at ?? 0;
      return at > process.broughtAt && this.#now() - at >= broughtAfterMs;
    });
    if (isOld) this.#bring(process);
  }

  #bring(process: ProcessTls): void {
    process.files = this.#files(process.names) ?? process.files;
    process.broughtAt = this.#now();
  }

  #files(names: SecretNames): ProcessTls["files"] | undefined {
    const peer = names.peer === undefined ? {} : this.files(names.peer);
    const server = names.server === undefined ? {} : this.files(names.server);
    return peer === undefined || server === undefined ? undefined : { peer, server };
  }
}

function namesIn({ spec }: Pod): SecretNames {
  const of = (volume: string) => spec?.volumes?.find(({ name }) => name === volume)?.secret?.secretName;
  return { peer: of("member-peer-tls"), server: of("member-server-tls") };
}

/** Whether a process takes a client that comes like this, and the client the process. */
export function takes({ speaks, trusts, files }: ProcessTls, endpoint: Dialled, now: number): boolean {
  const { url, tls, serverName } = endpoint;
  if (!speaks.client) return url.startsWith("http:");
  if (!url.startsWith("https:") || tls?.identity === undefined) return false;
  const shown = pairIn(files.server, "server");
  if (!isSigned(tls.identity.cert, trusts.client) || !isSigned(shown.cert, tls.ca)) return false;
  if (!isValid(tls.identity, now) || !isValid(shown, now)) return false;
  return serverName === undefined || isNamed(shown.cert, serverName);
}

export type Dialled = Pick<Endpoint, "url" | "tls" | "serverName">;

/** In words, why two peers could not connect to each other now; undefined: they can, either way. */
export function whyApart(from: ProcessTls, to: ProcessTls, host: string, now: number): string | undefined {
  if (to.speaks.peer !== "tls") return undefined;
  if (from.speaks.peer === "plain") return "one speaks TLS and the other cannot";
  const [leaf, other] = [pairIn(to.files.peer, "peer"), pairIn(from.files.peer, "peer")];
  if (!isSigned(leaf.cert, from.trusts.peer)) return "the dialler does not trust the certificate of the listener";
  if (!isSigned(other.cert, to.trusts.peer)) return "the listener does not trust the certificate of the dialler";
  if (!isValid(leaf, now) || !isValid(other, now)) return "a certificate has expired, or its key is another's";
  if (host !== "" && !isNamed(leaf.cert, host)) return `the certificate of the listener does not have the name ${host}`;
  return undefined;
}

/** Dialling with a key that does not belong to its certificate throws before anything is sent. */
export function requireUsable({ tls }: Pick<Endpoint, "tls">): void {
  if (tls?.identity !== undefined && !isPair(tls.identity)) throw new Error("error:05800074:x509: key values mismatch");
}

const pairIn = (files: Files, use: "peer" | "server"): KeyPair => ({
  cert: files[`${use}.crt`] ?? "",
  key: files[`${use}.key`] ?? "",
});

export function presentedBy({ speaks, files }: ProcessTls, port: number): PresentedCertificate | undefined {
  const isPeer = port === 2380;
  if (isPeer ? speaks.peer !== "tls" : !speaks.client) return undefined;
  const pair = pairIn(isPeer ? files.peer : files.server, isPeer ? "peer" : "server");
  const leaf = leafOf(pair.cert);
  const isShown = leaf !== undefined && isPair(pair);
  return isShown
    ? { cert: pair.cert, fingerprint: leaf.fingerprint256, notAfter: leaf.validToDate.getTime() }
    : undefined;
}

export function isExpired({ speaks, files }: ProcessTls, now: number): boolean {
  const shown = [
    ...(speaks.peer === "tls" ? [files.peer["peer.crt"]] : []),
    ...(speaks.client ? [files.server["server.crt"]] : []),
  ];
  return shown.some((cert = "") => (leafOf(cert)?.validToDate.getTime() ?? now) < now);
}

/** Asked again and again for the same ones. */
function remembering<T>(find: (a: string, b: string) => T): (a: string, b: string) => T {
  const known = new Map<string, Map<string, T>>();
  return (a, b) => {
    const byFirst = known.get(a) ?? new Map<string, T>();
    const answer = byFirst.has(b) ? (byFirst.get(b) as T) : find(a, b); // it has it
    known.set(a, byFirst.set(b, answer));
    return answer;
  };
}

const isSigned = remembering((cert, ca) => signerOf(cert, ca) !== undefined);
const isNamed = remembering((cert, host) => leafOf(cert)?.checkHost(host) !== undefined);
const leafIn = remembering((cert) => certificatesIn(cert)?.[0]);
const leafOf = (cert: string): X509Certificate | undefined => leafIn(cert, "");

const isMatch = remembering((cert, key) => {
  try {
    return leafOf(cert)?.checkPrivateKey(createPrivateKey(key)) === true;
  } catch {
    return false;
  }
});
const isPair = ({ cert, key }: KeyPair): boolean => isMatch(cert, key);

function isValid(pair: KeyPair, now: number): boolean {
  const leaf = leafOf(pair.cert);
  return leaf !== undefined && leaf.validFromDate.getTime() <= now && now < leaf.validToDate.getTime() && isPair(pair);
}
