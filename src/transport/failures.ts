// Turns what Node reports about sockets, TLS and HTTP/2 into the few failures that a caller can act on.
import { constants } from "node:http2";
import { TransportError } from "./errors.ts";

/** The `code` of a Node error, or undefined. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// OpenSSL's names for what can be wrong with a certificate chain, as Node hands them on.
const certificateCodes: ReadonlySet<string> = new Set([
  "CERT_CHAIN_TOO_LONG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "EPROTO",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function isTlsCode(code: string): boolean {
  return certificateCodes.has(code) || code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_");
}

/** A connection that never came to life: whatever the reason, no request was on it. */
export function connectFailure(origin: string, cause: unknown): TransportError {
  if (cause instanceof TransportError) return cause;
  const code = codeOf(cause) ?? "";
  const failure = isTlsCode(code) ? "tls" : code === "ETIMEDOUT" ? "connectTimeout" : "unreachable";
  return new TransportError(failure, `cannot connect to ${origin}: ${messageOf(cause)}`, cause);
}

/** A connection that was up and broke. */
export function connectionFailure(origin: string, cause: unknown): TransportError {
  if (cause instanceof TransportError) return cause;
  return new TransportError("broken", `the connection to ${origin} broke: ${messageOf(cause)}`, cause);
}

interface StreamEnd {
  rstCode: number;
  error: unknown;
  /** The server's GOAWAY said that it would not process this stream. */
  beyondGoaway: boolean;
}

/** A stream that ended before its response was complete. */
export function streamFailure(request: string, end: StreamEnd): TransportError {
  if (end.error instanceof TransportError) return end.error;
  const code = codeOf(end.error);
  const unprocessed =
    end.beyondGoaway ||
    end.rstCode === constants.NGHTTP2_REFUSED_STREAM ||
    code === "ERR_HTTP2_GOAWAY_SESSION" ||
    code === "ERR_HTTP2_INVALID_SESSION";
  if (unprocessed) return new TransportError("unprocessed", `${request} was turned away unprocessed`, end.error);
  const how = end.error === undefined ? `stream closed with code ${end.rstCode}` : messageOf(end.error);
  return new TransportError("broken", `${request} broke off: ${how}`, end.error);
}
