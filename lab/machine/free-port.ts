// Ports that nobody listens on, for servers whose port is an argument.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ephemeral ports: an outgoing connection could take one of those before the server listens, or while it is away. */
const lowest = 12_000;
const highest = 30_000;

/**
 * Gives out each port to one process of this machine, and once, until that process ends: the server may start much later, or
 * be away for a while.
 */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest);
    // The kernel removes an abstract socket with its owner.
    if ((await listens({ path: `\0etcd-operator-port/${port}` }, "held")) && (await listens({ host, port }, "tried")))
      return port;
  }
}

function listens(address: { path: string } | { host: string; port: number }, then: "held" | "tried"): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const server = createServer()
    .once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(false) : reject(error)))
    .listen(address, () => {
      if (then === "held") resolve(true);
      else server.close(() => resolve(true));
    })
    .unref();
  return promise;
}
