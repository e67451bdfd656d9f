// Stands before a server of object storage and fails on request: cuts connections, answers errors, loses answers, is
// slow, is silent, or is not there.
import { once } from "node:events";
import * as http from "node:http";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../machine/free-port.ts";

type Fault =
  | { readonly t: "none" }
  /** Nobody listens. */
  | { readonly t: "refuse" }
  /** Takes requests and never answers. */
  | { readonly t: "silent" }
  /** Answers this many requests with this status; the server does not see them. */
  | { readonly t: "answer"; readonly status: number; readonly times: number }
  /** Breaks this many connections when that much of a body has gone through. */
  | { readonly t: "cut"; readonly what: "requests" | "answers"; readonly afterBytes: number; readonly times: number }
  /** The server does what these ask for, and this many of its answers are lost. */
  | { readonly t: "lose"; readonly times: number; readonly of: (request: Asked) => boolean }
  | { readonly t: "slow"; readonly bytesPerSecond: number }
  /** Refuses bodies without this header, in S3's words. */
  | { readonly t: "demand"; readonly header: string };

export interface Asked {
  readonly method: string;
  readonly path: string;
}

export class FaultProxy implements AsyncDisposable {
  readonly #upstream: { readonly host: string; readonly port: number };
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #server: http.Server;
  readonly #port: number;
  #fault: Fault = { t: "none" };
  #left = 0;
  /** How many requests came. */
  requests = 0;

  private constructor(upstream: { readonly host: string; readonly port: number }, port: number) {
    this.#upstream = upstream;
    this.#port = port;
    this.#server = http.createServer((request, response) => this.#handle(request, response));
  }

  static async start(upstream: { readonly host: string; readonly port: number }): Promise<FaultProxy> {
    const proxy = new FaultProxy(upstream, await freePort());
    await proxy.#listen();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Until the next; connections that are open are closed. */
  async become(fault: Fault): Promise<void> {
    const listening = this.#server.listening;
    this.#fault = fault;
    this.#left = "times" in fault ? fault.times : 0;
    this.requests = 0;
    if (fault.t === "refuse" && listening) await this.#close();
    else if (fault.t !== "refuse" && !listening) await this.#listen();
    else this.#server.closeAllConnections();
    await ownClientsNotice();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.#close();
    this.#agent.destroy();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async #close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #handle(request: http.IncomingMessage, response: http.ServerResponse): void {
    this.requests += 1;
    const fault = this.#fault;
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    if (fault.t === "silent") {
      request.resume();
      return;
    }
    if (fault.t === "answer" && this.#takes()) {
      request.resume();
      request.on("end", () => response.writeHead(fault.status).end());
      return;
    }
    if (fault.t === "demand" && request.method === "PUT" && request.headers[fault.header] === undefined) {
      const said = `Missing required header for this request: ${fault.header}`;
      request.resume();
      request.on("end", () => {
        response.writeHead(400, { "content-type": "application/xml" });
        response.end(`<Error><Code>InvalidRequest</Code><Message>${said}</Message></Error>`);
      });
      return;
    }
    this.#forward(request, response, fault);
  }

  #forward(request: http.IncomingMessage, response: http.ServerResponse, fault: Fault): void {
    const { method = "GET", url: path = "/", headers } = request;
    const asked = http.request({ ...this.#upstream, method, path, headers, agent: this.#agent });
    const cut = (): void => {
      request.socket.destroy();
      asked.destroy();
    };
    asked.on("response", (answer) => {
      answer.on("error", () => response.destroy());
      if (fault.t === "lose" && fault.of({ method, path }) && this.#takes()) {
        // Read to its end, so that the server has done what it was asked for.
        answer.resume();
        answer.on("end", cut);
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      this.#through(answer, fault, "answers", cut).pipe(response);
    });
    asked.on("error", () => response.destroy());
    request.on("aborted", () => asked.destroy());
    this.#through(request, fault, "requests", cut).pipe(asked);
  }

  #through(from: http.IncomingMessage, fault: Fault, what: "requests" | "answers", cut: () => void): Readable {
    if (fault.t === "slow")
      return Readable.from(slowed(from, fault.bytesPerSecond), { objectMode: false }).on("error", cut);
    if (fault.t === "cut" && fault.what === what) {
      let seen = 0;
      from.on("data", (chunk: Buffer) => {
        const before = seen;
        seen += chunk.length;
        if (before <= fault.afterBytes && seen > fault.afterBytes && this.#takes()) cut();
      });
    }
    return from;
  }

  #takes(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }
}

/**
 * Clients in this process learn of a closed connection in one of its next turns. One that sent its next request before that,
 * on the old connection, would see a fault more than it was to see.
 */
async function ownClientsNotice(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
}

/** Ten pieces a second. */
async function* slowed(from: AsyncIterable<Buffer>, bytesPerSecond: number): AsyncGenerator<Buffer> {
  const piece = Math.max(1, Math.floor(bytesPerSecond / 10));
  for await (const chunk of from)
    for (let at = 0; at < chunk.length; at += piece) {
      const next = chunk.subarray(at, at + piece);
      await pause((next.length / bytesPerSecond) * 1000);
      yield next;
    }
}
