// Requests to the dashboard as a browser, or somebody who is none, sends them: with the headers that a test gives.
import { request } from "node:http";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

interface Asking {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

export interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** As the script of our own page asks. */
export const ownPage: OutgoingHttpHeaders = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
/** As a browser opens an address that was typed. */
export const typed: OutgoingHttpHeaders = {
  "sec-fetch-site": "none",
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
};

export function ask({ port, path, method = "GET", headers = {}, body = "" }: Asking): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    const asked = request({ host: "127.0.0.1", port, path, method, headers: sent, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ code: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

interface Stream extends Disposable {
  readonly code: number;
  /** The next message of the stream. */
  next(): Promise<unknown>;
}

export function listen({ port, path, headers = {} }: Asking): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      const messages: unknown[] = [];
      let [text, hear] = ["", (): void => undefined];
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        const parts = text.split("\n\n");
        text = parts.pop() ?? "";
        messages.push(
          ...parts.filter((part) => part.startsWith("data: ")).map((part): unknown => JSON.parse(part.slice(6))),
        );
        hear();
      });
      response.on("error", () => undefined); // let go
      resolve({
        code: response.statusCode ?? 0,
        async next() {
          while (messages.length === 0) await new Promise<void>((heard) => (hear = heard));
          return messages.shift();
        },
        [Symbol.dispose]: () => asked.destroy(),
      });
    });
    asked.on("error", reject);
    asked.end();
  });
}
