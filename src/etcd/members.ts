// A pool of connections to the members of all clusters. It has a limit, because each connection costs about 0.15 MB and
// an operator of a thousand clusters talks to three thousand members now and then.
import { createSecureContext, type SecureContext } from "node:tls";
import { TransportError } from "../transport/errors.ts";
import type { TransportObserver } from "../transport/events.ts";
import { Http2Origin, type TlsOptions } from "../transport/origin.ts";
import { ConnectedMember } from "./connected-member.ts";
import type { Carrier } from "./grpc.ts";
import { type Login, Session } from "./login.ts";
import type { EtcdMember } from "./member.ts";

/** PEM texts. */
export interface ClientTls {
  /** The CA of the members' certificates. */
  readonly ca: string;
  /** The client certificate, for members that require one. */
  readonly identity?: { readonly cert: string; readonly key: string };
}

export interface Endpoint {
  /** As in `https://10.244.1.7:2379`; a pod's IP saves a DNS lookup and works before DNS knows the pod. */
  readonly url: string;
  /** The name to verify in the member's certificate when the URL has an IP. */
  readonly serverName?: string;
  readonly tls?: ClientTls;
  /** Used where etcd asks for it. Members of one cluster share one object: it stands for their tokens. */
  readonly login?: Login;
}

interface EtcdMembersOptions {
  /** How many members stay connected. A connection with calls in flight is never closed for this limit. */
  readonly limit?: number;
  /** Milliseconds after which an unused connection is closed. */
  readonly idleTimeout?: number;
  readonly connectTimeout?: number;
  readonly observe?: TransportObserver;
  /** Milliseconds that only grow. */
  readonly now?: () => number;
}

interface Pooled {
  readonly origin: Http2Origin;
  tls: ClientTls | undefined;
  calls: number;
}

export class EtcdMembers {
  readonly #options: EtcdMembersOptions;
  readonly #limit: number;
  /** Least recently used first. */
  readonly #pool = new Map<string, Pooled>();
  /** Shared by all members of a cluster: parsing certificates for each connection costs time and memory. */
  readonly #contexts = new WeakMap<ClientTls, SecureContext>();
  readonly #sessions = new WeakMap<Login, Session>();

  constructor(options: EtcdMembersOptions = {}) {
    this.#options = options;
    this.#limit = options.limit ?? 256;
  }

  /** Connects at the first call. Cheap: get a new one for each use, so that it has the current certificates. */
  at(endpoint: Endpoint): EtcdMember {
    const carrier: Carrier = {
      send: async (request, receiver) => {
        const pooled = this.#pooled(endpoint);
        pooled.calls += 1;
        try {
          return await pooled.origin.send(request, receiver);
        } catch (error) {
          if (error instanceof TransportError && error.failure === "tooLarge") this.#hangUp(pooled, error);
          throw error;
        } finally {
          pooled.calls -= 1;
          this.#shrink();
        }
      },
    };
    return new ConnectedMember(endpoint.url, carrier, endpoint.login && this.#sessionOf(endpoint.login));
  }

  /** How many members have a connection in the pool. */
  get size(): number {
    return this.#pool.size;
  }

  close(): void {
    for (const pooled of this.#pool.values()) pooled.origin.close();
    this.#pool.clear();
  }

  #sessionOf(login: Login): Session {
    const session = this.#sessions.get(login) ?? new Session(login, this.#options.now ?? (() => performance.now()));
    this.#sessions.set(login, session);
    return session;
  }

  #pooled(endpoint: Endpoint): Pooled {
    const key = `${endpoint.url} ${endpoint.serverName ?? ""}`;
    const pooled = this.#pool.get(key) ?? this.#open(endpoint);
    this.#pool.delete(key);
    this.#pool.set(key, pooled);
    if (!sameCertificates(pooled.tls, endpoint.tls)) {
      // Calls in flight finish on the old connection; the next handshake presents the new certificate.
      pooled.tls = endpoint.tls;
      pooled.origin.renew();
    }
    return pooled;
  }

  #open({ url, serverName, tls }: Endpoint): Pooled {
    const { idleTimeout, connectTimeout, observe } = this.#options;
    const pooled: Pooled = {
      tls,
      calls: 0,
      origin: new Http2Origin(url, {
        maxConnections: 1,
        connectTimeout: connectTimeout ?? 3000,
        ...(idleTimeout === undefined ? {} : { idleTimeout }),
        ...(observe === undefined ? {} : { observe }),
        tls: () => this.#tlsOptions(pooled.tls, serverName),
      }),
    };
    return pooled;
  }

  #tlsOptions(tls: ClientTls | undefined, serverName: string | undefined): TlsOptions {
    if (!tls) return {};
    const context = this.#contexts.get(tls) ?? createSecureContext({ ca: tls.ca, ...tls.identity });
    this.#contexts.set(tls, context);
    return { secureContext: context, ...(serverName === undefined ? {} : { servername: serverName }) };
  }

  /**
   * A peer that says too much may not heed the reset of a stream either. Other calls that wait for it fail for the same
   * reason, so that all of them say what it is.
   */
  #hangUp(pooled: Pooled, because: TransportError): void {
    for (const [key, other] of this.#pool) if (other === pooled) this.#pool.delete(key);
    pooled.origin.close(because);
  }

  #shrink(): void {
    for (const [key, pooled] of this.#pool) {
      if (this.#pool.size <= this.#limit) return;
      if (pooled.calls > 0) continue;
      this.#pool.delete(key);
      pooled.origin.close();
    }
  }
}

function sameCertificates(a: ClientTls | undefined, b: ClientTls | undefined): boolean {
  return (
    a === b || (a?.ca === b?.ca && a?.identity?.cert === b?.identity?.cert && a?.identity?.key === b?.identity?.key)
  );
}
