// One HTTP/2 connection and the states it goes through. It is ready when the peer has sent its SETTINGS, not when
// the socket opens: a peer that accepts and stays silent never becomes ready, and how many streams it allows is known.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { dial, type TlsOptions } from "./dial.ts";
import { TransportError } from "./errors.ts";
import type { DrainReason, TransportObserver } from "./events.ts";
import { connectFailure, connectionFailure, messageOf } from "./failures.ts";
import { Liveness, type LivenessOptions } from "./liveness.ts";

export interface ConnectionSettings extends LivenessOptions {
  origin: string;
  tls: (() => TlsOptions | Promise<TlsOptions>) | undefined;
  connectTimeout: number;
  idleTimeout: number;
  observe: TransportObserver;
}

type ConnectionState =
  | { t: "connecting" }
  | { t: "ready"; session: ClientHttp2Session; liveness: Liveness }
  | { t: "draining"; session: ClientHttp2Session; liveness: Liveness }
  | { t: "closed"; error: TransportError | undefined };

// Used in full, a connection would queue one request more in silence until a stream ends; and a server that allows
// thousands still shares one TCP window among them.
const usableShare = 0.8;
const mostStreams = 1000;

const streamWindow = 1 << 20;
const connectionWindow = 4 << 20;

export class Connection {
  readonly id: number;
  readonly #settings: ConnectionSettings;
  readonly #onChange: (connection: Connection) => void;
  readonly #startedAt = performance.now();
  #state: ConnectionState = { t: "connecting" };
  #socket: Socket | undefined;
  #session: ClientHttp2Session | undefined;
  #connectTimer: NodeJS.Timeout;
  #idleTimer: NodeJS.Timeout | undefined;
  #streams = 0;
  #lastStreamId = Number.POSITIVE_INFINITY;

  constructor(id: number, settings: ConnectionSettings, onChange: (connection: Connection) => void) {
    this.id = id;
    this.#settings = settings;
    this.#onChange = onChange;
    this.#connectTimer = setTimeout(() => {
      const message = `no HTTP/2 connection to ${settings.origin} within ${settings.connectTimeout} ms`;
      this.destroy(new TransportError("connectTimeout", message));
    }, settings.connectTimeout);
    this.#open().catch((error: unknown) => {
      const message = `the TLS settings for ${settings.origin} cannot be used: ${messageOf(error)}`;
      this.destroy(new TransportError("tls", message, error));
    });
  }

  get state(): ConnectionState["t"] {
    return this.#state.t;
  }

  /** Why it closed; undefined while it is open, and when it was closed without one. */
  get error(): TransportError | undefined {
    return this.#state.t === "closed" ? this.#state.error : undefined;
  }

  /** How many requests this connection carries at most. */
  get capacity(): number {
    if (this.#state.t !== "ready") return 0;
    const allowed = this.#state.session.remoteSettings.maxConcurrentStreams ?? mostStreams;
    return allowed === 0 ? 0 : Math.max(1, Math.floor(Math.min(allowed, mostStreams) * usableShare));
  }

  get streams(): number {
    return this.#streams;
  }

  hasRoom(): boolean {
    return this.#streams < this.capacity;
  }

  /** Takes a place among the streams; each is given back by `open` when its stream closes, or by `release`. */
  reserve(): void {
    this.#streams += 1;
    clearTimeout(this.#idleTimer);
  }

  release(): void {
    this.#streams -= 1;
    if (this.#streams === 0) this.#rest();
    this.#onChange(this);
  }

  /** Starts a request in a reserved place. Undefined when the connection went away in the meantime. */
  open(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream | undefined {
    if (this.#state.t !== "ready" || this.#state.session.closed) return undefined;
    const { session, liveness } = this.#state;
    session.ref();
    liveness.busy();
    const stream = session.request(headers, { endStream });
    stream.once("close", () => this.release());
    return stream;
  }

  /** True when the server said that it would not process this stream. */
  isBeyondGoaway(stream: ClientHttp2Stream): boolean {
    return stream.id !== undefined && stream.id > this.#lastStreamId;
  }

  /** Takes no more requests; those under way finish, then it closes. */
  drain(because: DrainReason): void {
    if (this.#state.t !== "ready") return;
    const { session, liveness } = this.#state;
    this.#event({ type: "draining", because, streams: this.#streams });
    this.#move({ t: "draining", session, liveness });
    session.close();
  }

  destroy(error: TransportError | undefined): void {
    this.#move({ t: "closed", error });
    this.#session?.destroy(error);
    // A session waits for its socket to write out what it has, which a dead peer never lets happen.
    if (error) this.#socket?.destroy();
  }

  async #open(): Promise<void> {
    const { origin, tls } = this.#settings;
    const tlsOptions = (await tls?.()) ?? {};
    if (this.#state.t !== "connecting") return;
    const socket = dial(new URL(origin), tlsOptions);
    const session = connect(origin, {
      ...tlsOptions,
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow },
    });
    this.#socket = socket;
    this.#session = session;
    const onError = (error: unknown): void => {
      const failed = this.#state.t === "connecting" ? connectFailure : connectionFailure;
      this.destroy(failed(origin, error));
    };
    socket.on("error", onError);
    session.on("error", onError);
    session.once("connect", () => session.setLocalWindowSize(connectionWindow));
    session.on("remoteSettings", () => this.#onSettings(session));
    session.on("goaway", (code: number, lastStreamId: number) => this.#onGoaway(code, lastStreamId));
    session.on("close", () => {
      const connecting = this.#state.t === "connecting";
      this.destroy(connecting ? connectFailure(origin, new Error("the peer closed the connection")) : undefined);
    });
  }

  #onSettings(session: ClientHttp2Session): void {
    if (this.#state.t === "connecting") {
      const liveness = new Liveness(session, this.#settings, () => this.#onDead());
      this.#move({ t: "ready", session, liveness });
    } else {
      this.#onChange(this); // there may be room for more streams now
    }
  }

  #onGoaway(code: number, lastStreamId: number): void {
    // A graceful server says it twice: first with the largest id of all, then with the real one.
    this.#lastStreamId = Math.min(this.#lastStreamId, lastStreamId);
    this.#event({ type: "goaway", code, lastStreamId, streams: this.#streams });
    this.drain("goaway");
  }

  #onDead(): void {
    this.#event({ type: "dead", streams: this.#streams });
    this.destroy(new TransportError("dead", `${this.#settings.origin} stopped answering pings`));
  }

  /** Without streams the connection keeps neither the process alive nor, after a while, itself. */
  #rest(): void {
    if (this.#state.t !== "ready") return;
    this.#state.session.unref();
    this.#state.liveness.idle();
    this.#idleTimer = setTimeout(() => this.drain("idle"), this.#settings.idleTimeout);
    this.#idleTimer.unref();
  }

  /** The one place where the state changes. */
  #move(next: ConnectionState): void {
    const from = this.#state;
    if (from.t === "closed") return;
    this.#state = next;
    const took = performance.now() - this.#startedAt;
    if (from.t === "connecting") clearTimeout(this.#connectTimer);
    switch (next.t) {
      case "connecting":
        break;
      case "ready":
        this.#event({ type: "connected", took, streams: this.capacity });
        this.#rest();
        break;
      case "draining":
        clearTimeout(this.#idleTimer);
        break;
      case "closed":
        clearTimeout(this.#idleTimer);
        if (from.t === "connecting") {
          if (next.error) this.#event({ type: "connectFailed", took, error: next.error });
        } else {
          from.liveness.stop();
          this.#event({ type: "closed", error: next.error });
        }
        break;
    }
    this.#onChange(this);
  }

  #event(event: ConnectionEvent): void {
    this.#settings.observe({ ...event, origin: this.#settings.origin, connection: this.id });
  }
}

type WithoutSource<E> = E extends { connection: number } ? Omit<E, "origin" | "connection"> : never;
type ConnectionEvent = WithoutSource<Parameters<TransportObserver>[0]>;
