// The connections to all members of all clusters. They are kept for the next call, but no more of them than a bound:
// each costs about 0.15 MB, and an operator of a thousand clusters talks to three thousand members now and then.
import { createSecureContext, type SecureContext } from "node:tls";
import type { TransportObserver } from "../transport/events.ts";
import { Http2Origin, type TlsOptions } from "../transport/origin.ts";
import { ConnectedMember } from "./connected-member.ts";
import type { EtcdMember } from "./member.ts";

/** PEM texts. */
export interface ClientTls {
  /** Who signed the members' certificates. */
  readonly ca: string;
  /** For members that ask who is calling. */
  readonly identity?: { readonly cert: string; readonly key: string };
}

export interface Endpoint {
  /** As in `https://10.244.1.7:2379`; the pod's address spares a look-up and works before the name does. */
  readonly url: string;
  /** The name that the member's certificate must hold, when the URL has an address. */
  readonly serverName?: string;
  readonly tls?: ClientTls;
}

export interface EtcdMembersOptions {
  /** How many members stay connected. Calls under way are never broken off to keep the bound. */
  readonly most?: number;
  /** Milliseconds after which an unused connection is closed. */
  readonly idleTimeout?: number;
  readonly connectTimeout?: number;
  readonly observe?: TransportObserver;
}

interface Line {
  readonly origin: Http2Origin;
  tls: ClientTls | undefined;
  calls: number;
}

export class EtcdMembers {
  readonly #options: EtcdMembersOptions;
  readonly #most: number;
  /** Least recently used first. */
  readonly #lines = new Map<string, Line>();
  /** Shared by all members of a cluster: parsing the material again for each connection costs time and memory. */
  readonly #contexts = new WeakMap<ClientTls, SecureContext>();

  constructor(options: EtcdMembersOptions = {}) {
    this.#options = options;
    this.#most = options.most ?? 256;
  }

  /** Connects at the first call. Cheap: asked for anew whenever one is needed, so that it has the newest material. */
  at(endpoint: Endpoint): EtcdMember {
    return new ConnectedMember(endpoint.url, {
      send: async (request, receiver) => {
        const line = this.#line(endpoint);
        line.calls += 1;
        try {
          return await line.origin.send(request, receiver);
        } finally {
          line.calls -= 1;
          this.#shrink();
        }
      },
    });
  }

  /** How many members a connection is kept for. */
  get size(): number {
    return this.#lines.size;
  }

  /** Breaks off everything. */
  close(): void {
    for (const line of this.#lines.values()) line.origin.close();
    this.#lines.clear();
  }

  #line(endpoint: Endpoint): Line {
    const key = `${endpoint.url} ${endpoint.serverName ?? ""}`;
    const line = this.#lines.get(key) ?? this.#open(endpoint);
    this.#lines.delete(key);
    this.#lines.set(key, line);
    if (!sameMaterial(line.tls, endpoint.tls)) {
      // What is under way finishes on the old connection; the next handshake presents the new certificate.
      line.tls = endpoint.tls;
      line.origin.renew();
    }
    return line;
  }

  #open({ url, serverName, tls }: Endpoint): Line {
    const { idleTimeout, connectTimeout, observe } = this.#options;
    const line: Line = {
      tls,
      calls: 0,
      origin: new Http2Origin(url, {
        maxConnections: 1,
        connectTimeout: connectTimeout ?? 3000,
        ...(idleTimeout === undefined ? {} : { idleTimeout }),
        ...(observe === undefined ? {} : { observe }),
        tls: () => this.#tlsOptions(line.tls, serverName),
      }),
    };
    return line;
  }

  #tlsOptions(tls: ClientTls | undefined, serverName: string | undefined): TlsOptions {
    if (!tls) return {};
    const context = this.#contexts.get(tls) ?? createSecureContext({ ca: tls.ca, ...tls.identity });
    this.#contexts.set(tls, context);
    return { secureContext: context, ...(serverName === undefined ? {} : { servername: serverName }) };
  }

  #shrink(): void {
    for (const [key, line] of this.#lines) {
      if (this.#lines.size <= this.#most) return;
      if (line.calls > 0) continue;
      this.#lines.delete(key);
      line.origin.close();
    }
  }
}

function sameMaterial(a: ClientTls | undefined, b: ClientTls | undefined): boolean {
  return (
    a === b || (a?.ca === b?.ca && a?.identity?.cert === b?.identity?.cert && a?.identity?.key === b?.identity?.key)
  );
}
