// Ports that nobody listens on, for servers whose port is an argument.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ephemeral ports: an outgoing connection could take one of those before the server listens, or while it is away. */
const lowest = 12_000;
const highest = 20_000;
const handedOut = new Set<number>();

/** Gives out each port once: the server may start much later. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isFree(host, port)) return port;
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const server = createServer()
    .once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(false) : reject(error)))
    .listen(port, host, () => server.close(() => resolve(true)));
  return promise;
}
