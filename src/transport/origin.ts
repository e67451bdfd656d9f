// One HTTP/2 server as the rest of the program sees it: requests go in, complete responses come out. Behind it are
// as many connections as the open streams need; it replaces those that break, drain or fill up. It knows neither
// Kubernetes nor etcd, and repeats a request only when the server certainly did not process it.
import { Collected } from "./collected.ts";
import { Connection, type ConnectionSettings } from "./connection.ts";
import type { TlsOptions } from "./dial.ts";
import { TransportError } from "./errors.ts";
import type { TransportObserver } from "./events.ts";
import { exchange, type Receiver, type ResponseEnd, type TransportRequest } from "./exchange.ts";
import { Patience } from "./patience.ts";

export type { TlsOptions } from "./dial.ts";
export type { Receiver, ResponseEnd, TransportRequest } from "./exchange.ts";

export interface OriginOptions {
  /** Asked at each connect, so that renewed certificates are picked up. */
  tls?: () => TlsOptions | Promise<TlsOptions>;
  /** Milliseconds until the peer must have spoken HTTP/2. */
  connectTimeout?: number;
  pingInterval?: number;
  pingTimeout?: number;
  /** Milliseconds after which a connection without streams is closed. */
  idleTimeout?: number;
  /** How many connections may take requests at the same time. */
  maxConnections?: number;
  observe?: TransportObserver;
}

interface TransportResponse extends ResponseEnd {
  body: Buffer;
}

interface Waiter {
  take(connection: Connection): void;
  fail(reason: unknown): void;
}

const maxAttempts = 4;
/** Until the first connection shows how many streams the server allows. */
const assumedCapacity = 80;

export class Http2Origin {
  readonly url: string;
  readonly #settings: ConnectionSettings;
  readonly #maxConnections: number;
  readonly #connections = new Set<Connection>();
  #waiting: Waiter[] = [];
  #capacity = assumedCapacity;
  #lastId = 0;
  #closed = false;

  constructor(url: string, options: OriginOptions = {}) {
    this.url = new URL(url).origin;
    this.#maxConnections = options.maxConnections ?? 8;
    this.#settings = {
      origin: this.url,
      tls: options.tls,
      connectTimeout: options.connectTimeout ?? 5000,
      pingInterval: options.pingInterval ?? 10_000,
      pingTimeout: options.pingTimeout ?? 5000,
      idleTimeout: options.idleTimeout ?? 300_000,
      observe: options.observe ?? (() => {}),
    };
  }

  /** Sends a request and hands the response to the receiver; resolves when all of it has come. */
  async send(request: TransportRequest, receiver: Receiver): Promise<ResponseEnd> {
    const patience = new Patience(`${request.method} ${this.url}${request.path}`, request);
    try {
      for (let attempt = 1; ; attempt += 1) {
        patience.check();
        const connection = this.#reserve() ?? (await this.#wait(patience));
        try {
          return await exchange(connection, request, receiver, patience);
        } catch (error) {
          const again = error instanceof TransportError && error.failure === "unprocessed" && attempt < maxAttempts;
          if (!again) throw error;
        }
      }
    } finally {
      patience.end();
    }
  }

  /** Sends a request and collects the whole response, which is cut off and fails when it is larger than `atMost`. */
  async fetch(request: TransportRequest, atMost = Number.POSITIVE_INFINITY): Promise<TransportResponse> {
    const collected = new Collected(`${request.method} ${this.url}${request.path}`, atMost);
    const end = await this.send(request, { onData: (chunk) => collected.add(chunk) });
    return { ...end, body: collected.body };
  }

  /** The next request goes on a new connection; what is under way finishes where it is. */
  renew(): void {
    for (const connection of this.#connections) connection.drain("renewed");
  }

  /** Breaks off everything; `because` is what the requests under way fail with. */
  close(because?: TransportError): void {
    this.#closed = true;
    this.#failWaiting(this.#closedError());
    const error =
      because ?? new TransportError("broken", `the client of ${this.url} was closed in the middle of a request`);
    for (const connection of this.#connections) connection.destroy(error);
  }

  #reserve(): Connection | undefined {
    for (const connection of this.#connections) {
      if (!connection.hasRoom()) continue;
      connection.reserve();
      return connection;
    }
    return undefined;
  }

  #wait(patience: Patience): Promise<Connection> {
    if (this.#closed) return Promise.reject(this.#closedError());
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { take: resolve, fail: reject };
      this.#waiting.push(waiter);
      patience.onGiveUp((reason) => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        waiter.fail(reason);
      });
      this.#connectAsNeeded();
    });
  }

  #onChange(connection: Connection): void {
    if (connection.state === "ready") this.#capacity = connection.capacity;
    if (connection.state === "closed" && this.#connections.delete(connection)) this.#onClosed(connection);
    this.#serve();
  }

  /** Those who wait do not wait for a server that fails again and again: whether to try on is theirs to say. */
  #onClosed({ error }: Connection): void {
    if (this.#waiting.length === 0 || this.#count("connecting") > 0) return;
    if (error?.neverSent) {
      this.#failWaiting(error);
    } else if (this.#count("ready") === 0) {
      const message = `the connection to ${this.url} closed before it had room`;
      this.#failWaiting(new TransportError("unprocessed", message, error));
    }
  }

  #failWaiting(error: TransportError): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) waiter.fail(error);
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#reserve();
      if (!connection) break;
      this.#waiting.shift()?.take(connection);
    }
    this.#connectAsNeeded();
  }

  #connectAsNeeded(): void {
    if (this.#closed) return;
    let connecting = this.#count("connecting");
    let open = connecting + this.#count("ready");
    while (connecting * Math.max(1, this.#capacity) < this.#waiting.length && open < this.#maxConnections) {
      this.#lastId += 1;
      this.#connections.add(new Connection(this.#lastId, this.#settings, (changed) => this.#onChange(changed)));
      connecting += 1;
      open += 1;
    }
  }

  #count(state: Connection["state"]): number {
    let count = 0;
    for (const connection of this.#connections) if (connection.state === state) count += 1;
    return count;
  }

  #closedError(): TransportError {
    return new TransportError("unreachable", `the client of ${this.url} was closed`);
  }
}
