// TLS as the processes of an in-memory etcd have it: a CA bundle is read when a process starts, a certificate at each
// handshake, and a kubelet brings a changed Secret into a pod some time later. Who does not trust whom is refused.
import type { Endpoint } from "../../etcd/members.ts";
import type { PresentedCertificate } from "../../etcd/presented-certificate.ts";
import { Pod, Secret } from "../../kube/objects/kinds.ts";
import type { FinishedCall } from "../../kube/testing/fake-api/calls.ts";
import { signerOf } from "../../tls/ca-bundle.ts";
import { certificatesIn } from "../../tls/pem.ts";
import { decoded } from "../objects/secrets.ts";
import type { PodTls } from "../objects/tls.ts";
import { observedPod } from "../observe/pods.ts";

type Files = Readonly<Record<string, string>>;

interface Written {
  readonly files: Files;
  readonly at: number;
}

/** A kubelet looks at the Secrets of its pods about once a minute, and when it hears of a change of the pod. */
const broughtAfterMs = 60_000;

/** Of one container. */
export interface ProcessTls {
  readonly speaks: Pick<PodTls, "peer" | "client">;
  /** What it read when it started. */
  readonly trusts: { readonly peer: string; readonly client: string };
  /** What its kubelet has brought it. */
  files: { readonly peer: Files; readonly server: Files };
  renewed: string | undefined;
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

  /** Of a process that starts now; undefined while a Secret that its pod mounts is not there. */
  begin(pod: Pod): ProcessTls | undefined {
    const mounted = this.#mounted(pod);
    if (mounted === undefined) return undefined;
    const { tls, renewed } = observedPod(pod, undefined);
    return {
      speaks: tls,
      trusts: { peer: mounted.peer["peer-ca.crt"] ?? "", client: mounted.server["server-ca.crt"] ?? "" },
      files: mounted,
      renewed,
    };
  }

  /** Time has passed, or the pod was changed. */
  bring(pod: Pod, process: ProcessTls): void {
    const { renewed } = observedPod(pod, undefined);
    const names = namesIn(pod);
    const isOld = [names.peer, names.server].some((name) => {
      const at = name === undefined ? undefined : this.#written.get(name)?.at;
      return at !== undefined && this.#now() - at >= broughtAfterMs;
    });
    if (renewed === process.renewed && !isOld) return;
    process.renewed = renewed;
    process.files = this.#mounted(pod) ?? process.files;
  }

  #mounted(pod: Pod): ProcessTls["files"] | undefined {
    const names = namesIn(pod);
    const peer = names.peer === undefined ? {} : this.files(names.peer);
    const server = names.server === undefined ? {} : this.files(names.server);
    return peer === undefined || server === undefined ? undefined : { peer, server };
  }
}

function namesIn({ spec }: Pod): { peer: string | undefined; server: string | undefined } {
  const of = (volume: string) => spec?.volumes?.find(({ name }) => name === volume)?.secret?.secretName;
  return { peer: of("member-peer-tls"), server: of("member-server-tls") };
}

/** Whether a process takes a client that comes like this, and the client the process. */
export function takes({ speaks, trusts, files }: ProcessTls, { url, tls }: Pick<Endpoint, "url" | "tls">): boolean {
  if (!speaks.client) return url.startsWith("http:");
  if (!url.startsWith("https:") || tls?.identity === undefined) return false;
  return isSigned(tls.identity.cert, trusts.client) && isSigned(files.server["server.crt"] ?? "", tls.ca);
}

/** In words, why two peers could not connect to each other now; undefined: they can, either way. */
export function whyApart(from: ProcessTls, to: ProcessTls): string | undefined {
  if (to.speaks.peer !== "tls") return undefined;
  if (from.speaks.peer === "plain") return "one speaks TLS and the other cannot";
  const [leaf, other] = [to.files.peer["peer.crt"] ?? "", from.files.peer["peer.crt"] ?? ""];
  if (!isSigned(leaf, from.trusts.peer)) return "the dialler does not trust the certificate of the listener";
  return isSigned(other, to.trusts.peer) ? undefined : "the listener does not trust the certificate of the dialler";
}

export function presentedBy({ speaks, files }: ProcessTls, port: number): PresentedCertificate | undefined {
  const isPeer = port === 2380;
  if (isPeer ? speaks.peer !== "tls" : !speaks.client) return undefined;
  const cert = (isPeer ? files.peer["peer.crt"] : files.server["server.crt"]) ?? "";
  const leaf = certificatesIn(cert)?.[0];
  return leaf && { cert, fingerprint: leaf.fingerprint256, notAfter: leaf.validToDate.getTime() };
}

/** By the certificate and the bundle. */
const known = new Map<string, Map<string, boolean>>();

/** Asked again and again for the same ones. */
function isSigned(cert: string, ca: string): boolean {
  const byBundle = known.get(cert) ?? new Map<string, boolean>();
  const answer = byBundle.get(ca) ?? signerOf(cert, ca) !== undefined;
  known.set(cert, byBundle.set(ca, answer));
  return answer;
}
