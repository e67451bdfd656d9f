// Events of connections, for metrics and the log. An observer is called in the middle of things and must not throw.
import type { TransportError } from "./errors.ts";

/** Why an established connection takes no more requests. */
export type DrainReason =
  | "goaway" // the server asked for it
  | "renewed" // this side wants the next request to present fresh credentials
  | "idle"; // nobody used it for a while

export type TransportEvent =
  | { type: "connected"; origin: string; connection: number; took: number; streams: number }
  | { type: "connectFailed"; origin: string; connection: number; took: number; error: TransportError }
  | { type: "goaway"; origin: string; connection: number; code: number; lastStreamId: number; streams: number }
  | { type: "draining"; origin: string; connection: number; because: DrainReason; streams: number }
  | { type: "dead"; origin: string; connection: number; streams: number }
  | { type: "closed"; origin: string; connection: number; error: TransportError | undefined };

export type TransportObserver = (event: TransportEvent) => void;
