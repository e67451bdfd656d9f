// Which certificate a server presents at this moment, whatever its files hold by now. Nothing is sent and nothing trusted.
import { connect, type TLSSocket } from "node:tls";
import type { Endpoint } from "./members.ts";

export interface PresentedCertificate {
  /** PEM, without the intermediates that may come with it. */
  readonly cert: string;
  /** SHA-256 of the leaf, as X509Certificate has it. */
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

const withinMs = 1500;

/** Undefined when it cannot be found out. Servers of TLS 1.2 end the handshake of a client without a certificate. */
export function presentedCertificate(
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<PresentedCertificate | undefined> {
  return new Promise((resolve) => {
    const socket = dialled(endpoint);
    if (socket === undefined) {
      resolve(undefined);
      return;
    }
    const end = (found?: PresentedCertificate): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      resolve(found);
    };
    const onAbort = (): void => end();
    const timer = setTimeout(end, withinMs);
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("error", () => end());
    socket.once("close", () => end());
    socket.once("secureConnect", () => {
      const leaf = socket.getPeerX509Certificate();
      end(leaf && { cert: leaf.toString(), fingerprint: leaf.fingerprint256, notAfter: leaf.validToDate.getTime() });
    });
    if (signal.aborted) end();
  });
}

/** Undefined where it cannot be dialled at all: OpenSSL refuses a key that does not belong to its certificate at once. */
function dialled({ url, serverName, tls }: Endpoint): TLSSocket | undefined {
  try {
    const { hostname, port } = new URL(url);
    return connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port),
      // It is read, not trusted.
      rejectUnauthorized: false,
      ...tls?.identity,
      ...(serverName !== undefined && { servername: serverName }),
    });
  } catch {
    return undefined;
  }
}
