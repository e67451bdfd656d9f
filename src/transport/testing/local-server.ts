// A real HTTP/2 server on loopback whose connections a test can freeze, cut and count.
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerOptions,
} from "node:http2";
import { type AddressInfo, createServer as createHolder, type Socket } from "node:net";

export type StreamHandler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Every connection ever made, oldest first. */
  readonly sockets: readonly Socket[];
  readonly sessions: readonly ServerHttp2Session[];
  /** Breaks all connections off, as a killed process would. */
  cut(): void;
  /** Stops reading and writing on all connections, as a stopped process or a black hole would. */
  freeze(): void;
}

export async function startServer(
  onStream: StreamHandler,
  options: ServerOptions | (SecureServerOptions & { tls: true }) = {},
  { host, port: wantedPort }: Address = { host: "127.0.0.1", port: 0 },
): Promise<LocalServer> {
  const secure = "tls" in options;
  const server: Http2Server = secure ? createSecureServer(options) : createServer(options);
  const sockets: Socket[] = [];
  const sessions: ServerHttp2Session[] = [];
  server.on("connection", (socket: Socket) => {
    sockets.push(socket);
    socket.on("error", () => {}); // tests cut connections on purpose
  });
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => {});
  });
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    onStream(stream, headers);
  });
  const port = await listen(server, host, wantedPort);
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `${secure ? "https" : "http"}://${host}:${port}`,
    port,
    sockets,
    sessions,
    cut,
    freeze() {
      for (const socket of sockets) stopReading(socket);
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

function listen(server: Http2Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * An address of loopback where nobody listens until the test does. Its port is held at another address, so that no other
 * server and no outgoing connection gets it meanwhile.
 */
export async function heldAddress(): Promise<Address & AsyncDisposable> {
  const holder = createHolder();
  const port = await new Promise<number>((resolve, reject) => {
    holder.once("error", reject);
    holder.listen(0, "127.0.0.1", () => resolve((holder.address() as AddressInfo).port));
  });
  return {
    host: "127.0.0.3",
    port,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => holder.close(resolve));
    },
  };
}

// HTTP/2 reads below the stream layer, so that pause() would not hold it: the handle itself has to stop.
function stopReading(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle === "object" && handle !== null && "readStop" in handle && typeof handle.readStop === "function") {
    handle.readStop();
  }
}
