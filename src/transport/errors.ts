// No answer came, or not all of one. Kept apart from what a server says (`ApiError`, `EtcdError`), because after
// this nobody knows whether the request was carried out.
import { shortened } from "./shortened.ts";

export type TransportFailure =
  | "unreachable" // refused, no route, name unknown: the request never left
  | "connectTimeout" // the peer took the connection and stayed silent, or did not take it in time
  | "tls" // the handshake failed: wrong authority, name or client certificate
  | "unprocessed" // the server turned the request away untouched: it is going away, or has too many
  | "deadline" // the caller's time ran out
  | "dead" // the peer stopped answering pings
  | "tooLarge" // the answer is more than this side takes, and was cut off
  | "broken"; // the connection or the stream broke off in the middle

const neverProcessed: ReadonlySet<TransportFailure> = new Set(["unreachable", "connectTimeout", "tls", "unprocessed"]);

export class TransportError extends Error {
  readonly failure: TransportFailure;

  constructor(failure: TransportFailure, message: string, cause?: unknown) {
    super(shortened(message), cause === undefined ? undefined : { cause });
    this.name = "TransportError";
    this.failure = failure;
  }

  /** True when the server cannot have acted on the request, so that sending it again is always safe. */
  get neverSent(): boolean {
    return neverProcessed.has(this.failure);
  }
}
