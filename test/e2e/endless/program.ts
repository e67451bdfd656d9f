// Stands in the place of etcd in an image: a kubelet finds it healthy, and whoever asks it by gRPC gets an answer without
// end, each time of another kind. It prints what it answers, one line a call.
import { createServer as createHttp } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { createServer, type Socket } from "node:net";
import { endless, enormous } from "../../../src/etcd/testing/hostile-etcd.ts";
import type { StreamHandler } from "../../../src/transport/testing/local-server.ts";

const ways: readonly (readonly [string, StreamHandler])[] = [
  ...Object.entries(endless),
  ["100 000 members", (stream) => enormous.members(stream, 100_000)],
  ["a version of a megabyte", (stream) => enormous.version(stream, 1 << 20)],
];

const healthy = createHttp((_request, response) => response.end('{"health":"true"}'));
const grpc = createHttp2();
let calls = 0;
grpc.on("stream", (stream, headers) => {
  stream.on("error", () => undefined); // whoever asked has hung up
  const [what, handler] = ways[calls % ways.length] ?? [];
  calls += 1;
  process.stdout.write(`${headers[":path"]}: ${what}\n`);
  handler?.(stream, headers);
});
grpc.on("sessionError", () => undefined);

/** HTTP/2 begins with a word that no HTTP/1 request begins with. */
function welcome(socket: Socket): void {
  socket.on("error", () => undefined);
  socket.once("readable", () => {
    const first: unknown = socket.read();
    if (!Buffer.isBuffer(first)) return; // it was closed at once, as a probe of TCP does
    socket.unshift(first);
    (first.toString("latin1").startsWith("PRI ") ? grpc : healthy).emit("connection", socket);
  });
}

/** As in `--listen-client-urls=http://0.0.0.0:2379` and in the variable of the same name. */
const ports = [...process.argv, ...Object.entries(process.env).map(([name, value]) => `${name}=${value}`)].flatMap(
  (setting) =>
    /listen.client.urls=.*:(\d+)$|listen.metrics.urls=.*:(\d+)$/i.exec(setting)?.slice(1).filter(Boolean) ?? [],
);
if (process.argv.includes("--version")) process.stdout.write("etcd Version: 3.6.16\n");
else for (const port of ports) createServer(welcome).listen(Number(port));
