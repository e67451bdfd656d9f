// The server of the dashboard: on this machine's own address alone, for one browser, read-only.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Refusal } from "../place/refusal.ts";
import { Admission } from "./admission.ts";
import type { Feed, Topic } from "./feed.ts";
import { replacementPath, refusalOf } from "./guard.ts";
import { securityHeaders } from "./headers.ts";
import type { PageTexts } from "./page-texts.ts";
import { openStream } from "./stream.ts";

/** Nothing else is offered: with the permissions of its user, the page is for nobody else's machine. */
const address = "127.0.0.1";
const mostConnections = 32;
const mostStreams = 12;
/** A token has 22 letters. */
const longestToken = 64;

interface DashboardOptions {
  readonly feed: Feed;
  readonly page: PageTexts;
  /** 0: any free one. */
  readonly port: number;
}

export interface Dashboard extends Disposable {
  readonly port: number;
  /** As in http://127.0.0.1:41234/. */
  readonly origin: string;
  /** Opens the page, once. */
  readonly token: string;
  readonly cookieName: string;
}

export async function serveDashboard({ feed, page, port }: DashboardOptions): Promise<Dashboard> {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 5_000 });
  server.maxConnections = mostConnections;
  const bound = await listening(server, port);
  const visit = new Visits(feed, page, bound);
  server.on("request", (request, response) => visit.answer(request, response));
  return {
    port: bound,
    origin: `http://${address}:${bound}/`,
    token: visit.admission.token,
    cookieName: visit.admission.cookieName,
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function listening(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const isTaken = "code" in error && error.code === "EADDRINUSE";
      const advice = "choose another with --port, or omit the flag to use any free port.";
      reject(new Refusal(isTaken ? `The port ${port} is in use: ${advice}` : `${error.message}: ${advice}`));
    });
    server.listen({ host: address, port, exclusive: true }, () => resolve((server.address() as AddressInfo).port));
  });
}

type Handler = (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => void;

class Visits {
  readonly admission: Admission;
  readonly #feed: Feed;
  readonly #host: string;
  /** Every path that there is. The page holds no data: those need the cookie. */
  readonly #paths: ReadonlyMap<string, Handler>;
  #streams = 0;

  constructor(feed: Feed, page: PageTexts, port: number) {
    this.admission = new Admission(port);
    this.#feed = feed;
    this.#host = `${address}:${port}`;
    const file =
      (type: string, text: string): Handler =>
      (_, response) =>
        answer(response, 200, text, { "Content-Type": type });
    this.#paths = new Map<string, Handler>([
      ["/", file("text/html; charset=utf-8", page.html)],
      ["/style.css", file("text/css; charset=utf-8", page.style)],
      ["/script.js", file("text/javascript; charset=utf-8", page.script)],
      ["/icon.svg", file("image/svg+xml", page.icon)],
      [replacementPath, (request, response) => this.#exchange(request, response)],
      ["/hello", this.#inside((_, response) => answer(response, 200, "in"))],
      ["/live", this.#inside((_, response, query) => this.#live(response, query))],
    ]);
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers } = request;
    const [path = "", query = ""] = url.split("?", 2);
    const refused = refusalOf({ method, path, headers }, this.#host);
    if (refused !== undefined) {
      answer(response, refused.code, refused.why, refused.code === 405 ? { Allow: "GET" } : {});
      return;
    }
    const handle = this.#paths.get(path);
    if (handle === undefined) answer(response, 404, "Not found.");
    else handle(request, response, new URLSearchParams(query));
  }

  #inside(handle: Handler): Handler {
    return (request, response, query) => {
      if (this.admission.isIn(request.headers.cookie)) handle(request, response, query);
      else answer(response, 401, "Open the address that the command printed. It works once.");
    };
  }

  #exchange(request: IncomingMessage, response: ServerResponse): void {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > longestToken) request.destroy();
    });
    request.on("end", () => {
      const cookie = this.admission.exchange(text);
      if (cookie === undefined) answer(response, 403, "This token is wrong, or was already used.");
      else answer(response, 200, "in", { "Set-Cookie": cookie });
    });
    request.on("error", () => undefined); // gone
  }

  #live(response: ServerResponse, query: URLSearchParams): void {
    const topic = topicOf(query);
    if (topic === undefined || !this.#feed.shows(topic)) {
      answer(response, 404, "This dashboard does not show that cluster.");
      return;
    }
    if (this.#streams >= mostStreams) {
      answer(response, 503, "Too many pages are open: close some.");
      return;
    }
    this.#streams += 1;
    response.writeHead(200, { ...securityHeaders, "Content-Type": "text/event-stream" });
    const stop = openStream(this.#feed, topic, response);
    response.once("close", () => {
      this.#streams -= 1;
      stop();
    });
  }
}

const dnsName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

function topicOf(query: URLSearchParams): Topic | undefined {
  const [namespace, name] = [query.get("namespace"), query.get("name")];
  if (namespace === null && name === null) return { t: "fleet" };
  if (namespace === null || name === null || !dnsName.test(namespace) || !dnsName.test(name)) return undefined;
  return { t: "cluster", key: { namespace, name } };
}

function answer(response: ServerResponse, code: number, text = "", more: Readonly<Record<string, string>> = {}): void {
  response.writeHead(code, {
    ...securityHeaders,
    ...(text !== "" && { "Content-Type": "text/plain; charset=utf-8" }),
    ...more,
  });
  response.end(text);
}
