// A proxy before a server of object storage that answers some requests itself and hands on all others as they came, so that
// their signatures stay valid.
import { once } from "node:events";
import * as http from "node:http";

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Forwarding {
  readonly upstream: { readonly host: string; readonly port: number };
  /** What it answers itself. */
  reply(request: http.IncomingMessage): Reply | undefined;
  /** Sees every answer of the server before its client does. */
  answered?(request: http.IncomingMessage, answer: http.IncomingMessage): void;
}

export interface Forwarder extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
}

export async function startForwarding(way: Forwarding): Promise<Forwarder> {
  const agent = new http.Agent({ keepAlive: true });
  const server = http.createServer((request, response) => {
    const own = way.reply(request);
    if (own) {
      request.resume();
      response.writeHead(own.status, own.headers).end(own.body);
      return;
    }
    const { method, url: path, headers } = request;
    const asked = http.request({ ...way.upstream, method, path, headers, agent });
    asked.on("response", (answer) => {
      way.answered?.(request, answer);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    asked.on("error", () => response.destroy());
    request.on("error", () => asked.destroy());
    request.pipe(asked);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no address");
  return {
    host: "127.0.0.1",
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      agent.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
