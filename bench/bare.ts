// The floor: node:http2 and JSON.parse, and nothing of ours. One connection, no retries, no deadlines; whatever goes
// wrong ends the program that uses it.
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";

/** Who asks whom; small enough to be handed to a child process as JSON. */
export interface BareAccess {
  readonly server: string;
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly authorization?: string;
  readonly userAgent: string;
}

interface BareAnswer {
  readonly status: number;
  readonly body: unknown;
}

interface BareList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly unknown[];
}

export class Bare {
  readonly #session: ClientHttp2Session;
  readonly #headers: Record<string, string>;

  constructor({ server, authorization, userAgent, ...tls }: BareAccess) {
    this.#session = connect(server, tls);
    this.#headers = { "user-agent": userAgent, ...(authorization === undefined ? {} : { authorization }) };
  }

  async request(method: "GET" | "POST" | "PUT", path: string, body?: object): Promise<BareAnswer> {
    const stream = this.#open(method, path, body === undefined);
    if (body !== undefined) stream.end(JSON.stringify(body));
    let status = 0;
    let text = "";
    stream.on("response", (headers) => {
      status = headers[":status"] ?? 0;
    });
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    await new Promise((resolve, reject) => stream.on("end", resolve).on("error", reject));
    return { status, body: JSON.parse(text) };
  }

  /** Every page of the list, one after the other, each forgotten before the next. Gives the version to watch from. */
  async walk(path: string, limit: number): Promise<{ items: number; resourceVersion: string }> {
    let items = 0;
    for (let next = ""; ; ) {
      const token = next === "" ? "" : `&continue=${encodeURIComponent(next)}`;
      const { status, body } = await this.request("GET", `${path}?limit=${limit}${token}`);
      if (status !== 200) throw new Error(`GET ${path}: ${status}`);
      const page = body as BareList;
      items += page.items.length;
      const { resourceVersion, continue: more = "" } = page.metadata;
      if (more === "") return { items, resourceVersion };
      next = more;
    }
  }

  watch(path: string, resourceVersion: string, onEvent: (event: unknown) => void): void {
    const stream = this.#open("GET", `${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`);
    let rest = "";
    stream.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onEvent(JSON.parse(line));
    });
  }

  close(): void {
    this.#session.destroy();
  }

  #open(method: string, path: string, endStream = true): ClientHttp2Stream {
    const headers = { ...this.#headers, "content-type": "application/json", ":method": method, ":path": path };
    return this.#session.request(headers, { endStream }).setEncoding("utf8");
  }
}
