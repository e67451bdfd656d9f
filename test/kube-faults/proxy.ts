// Stands between a client and the API server and says what a real one cannot be made to say: refusals of every kind,
// broken connections, watches that end in odd ways. Otherwise it hands everything on, connection for connection.
import * as http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { readFileSync } from "node:fs";
import { hostAddress, type LabConfig } from "../../lab/config.ts";
import { apiUrl } from "../../lab/control-plane/kubeconfig.ts";
import { pkiPath } from "../../lab/control-plane/pki.ts";

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

interface ProxiedRequest {
  readonly path: string;
  readonly at: number;
  /** Undefined when it was handed on. */
  readonly replied: number | undefined;
}

const newline = 0x0a;

/** A response on its way from the API server to the client. */
class Passage {
  readonly path: string;
  readonly isWatch: boolean;
  readonly #to: http2.ServerHttp2Stream;
  readonly #from: http2.ClientHttp2Stream;
  #betweenLines = true;
  #lastWords: string | undefined;

  constructor(to: http2.ServerHttp2Stream, from: http2.ClientHttp2Stream, path: string) {
    this.path = path;
    this.isWatch = /[?&]watch=1/.test(path);
    this.#to = to;
    this.#from = from;
    const ignore = (): void => {}; // what breaks one side closes it, and with it the other
    to.on("error", ignore);
    from.on("error", ignore);
    to.on("data", (chunk: Buffer) => from.write(chunk));
    to.on("end", () => from.end());
    to.on("close", () => from.close(http2.constants.NGHTTP2_CANCEL));
    from.on("response", (headers) => {
      if (!to.destroyed) to.respond(headers);
    });
    from.on("data", (chunk: Buffer) => this.#forward(chunk));
    from.on("end", () => to.end());
    from.on("close", () => {
      if (!to.writableEnded) to.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    });
  }

  /** Ends the response cleanly after these words, between two events. */
  end(lastWords: string): void {
    this.#lastWords = lastWords;
    if (this.#betweenLines) this.#say(lastWords);
  }

  #forward(chunk: Buffer): void {
    if (this.#to.destroyed || this.#to.writableEnded) return;
    const lastLineEnd = chunk.lastIndexOf(newline);
    this.#betweenLines = lastLineEnd === chunk.length - 1;
    if (this.#lastWords !== undefined && lastLineEnd >= 0) {
      this.#to.write(chunk.subarray(0, lastLineEnd + 1));
      this.#say(this.#lastWords);
    } else if (!this.#to.write(chunk)) {
      this.#from.pause();
      this.#to.once("drain", () => this.#from.resume());
    }
  }

  #say(lastWords: string): void {
    if (!this.#to.headersSent) this.#to.respond({ ":status": 200, "content-type": "application/json" });
    this.#to.end(lastWords);
    this.#from.close(http2.constants.NGHTTP2_CANCEL);
  }
}

export class FaultyProxy {
  readonly #server: http2.Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  readonly #passages = new Set<Passage>();
  readonly #upstreams = new Map<http2.Http2Session, http2.ClientHttp2Session>();
  readonly requests: ProxiedRequest[] = [];
  /** What is answered instead of handing a request on; undefined for those that are handed on. */
  reply: (path: string) => Reply | undefined = () => undefined;
  /** Whether a request is handed on with a token that no API server takes. */
  spoilsToken: (path: string) => boolean = () => false;
  /** While true, connections are broken off before anything is said. */
  refuses = false;

  private constructor(lab: LabConfig) {
    const ca = readFileSync(pkiPath(lab, "ca.crt"));
    this.#server = http2.createSecureServer({
      cert: readFileSync(pkiPath(lab, "apiserver.crt")),
      key: readFileSync(pkiPath(lab, "apiserver.key")),
    });
    this.#server.on("connection", (socket: Socket) => this.#onConnection(socket));
    this.#server.on("sessionError", () => {}); // a broken connection is the client's to notice
    this.#server.on("tlsClientError", () => {});
    this.#server.on("session", (session) => {
      const upstream = http2.connect(apiUrl(lab), { ca });
      this.#upstreams.set(session, upstream);
      // An API server that refuses a token sends those who come after it to another connection, and goes on serving the
      // streams of this one. Kept from the client, it would come here again and again, in vain.
      upstream.on("goaway", () => session.close());
      upstream.on("error", () => session.destroy());
      upstream.on("close", () => session.destroy());
      session.on("close", () => {
        this.#upstreams.delete(session);
        upstream.destroy();
      });
    });
    this.#server.on("stream", (stream, headers) => this.#onStream(stream, headers));
  }

  static async open(lab: LabConfig): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(lab);
    await new Promise<void>((resolve) => proxy.#server.listen(0, hostAddress(lab), resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cutConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Ends every open watch, or those of one resource, cleanly after these words. */
  endWatches(lastWords: string, resource = ""): void {
    for (const passage of this.#passages)
      if (passage.isWatch && passage.path.includes(`/${resource}`)) passage.end(lastWords);
  }

  close(): void {
    this.#server.close();
    this.cutConnections();
    for (const upstream of this.#upstreams.values()) upstream.destroy();
  }

  #onConnection(socket: Socket): void {
    socket.on("error", () => {});
    if (this.refuses) {
      socket.resetAndDestroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
  }

  #onStream(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void {
    const path = headers[":path"] ?? "";
    const reply = this.reply(path);
    this.requests.push({ path, at: performance.now(), replied: reply?.status });
    stream.on("error", () => {});
    const upstream = stream.session && this.#upstreams.get(stream.session);
    if (reply !== undefined) {
      stream.respond({ ":status": reply.status, "content-type": "application/json", ...reply.headers });
      stream.end(JSON.stringify(reply.body));
      stream.resume();
    } else if (upstream === undefined || upstream.closed || upstream.destroyed) {
      stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    } else {
      const spoiled = this.spoilsToken(path) ? { authorization: "Bearer spoiled" } : {};
      const passage = new Passage(stream, upstream.request({ ...headers, ...spoiled }), path);
      this.#passages.add(passage);
      stream.on("close", () => this.#passages.delete(passage));
    }
  }
}
