// Doors on the loopback through which clients reach the members: each leads to one member, and to another when that pod is
// gone. So clients keep their addresses while members come and go, as they do behind a Service. A door can also speak TLS for
// its clients, for a cluster that begins or ends to speak it under them.
import * as net from "node:net";
import * as tls from "node:tls";
import type { Endpoint } from "../../src/etcd/members.ts";

/** Where a door leads. Another `id` is another pod, or the same that speaks in another way. */
export interface Target {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** The door speaks TLS; asked for at each connection, because certificates are renewed. */
  readonly speakFor?: () => Pick<Endpoint, "tls" | "serverName">;
}

const connectWithinMs = 2_000;
/** An address of the machine itself. Certificates for members are for localhost as well. */
export const loopback = "127.0.0.1";

class Door {
  readonly server: net.Server;
  #target: Target | undefined;
  readonly #open = new Map<net.Socket, string>();

  constructor() {
    this.server = net.createServer({ allowHalfOpen: false, noDelay: true }, (client) => this.#enter(client));
  }

  /** Connections to another target end, so that clients make new ones. */
  leadTo(target: Target | undefined): void {
    if (target?.id === this.#target?.id) return;
    this.#target = target;
    for (const [client, id] of this.#open) if (id !== target?.id) client.destroy();
  }

  close(): Promise<void> {
    for (const client of this.#open.keys()) client.destroy();
    return new Promise((resolve) => {
      this.server.close(() => resolve());
    });
  }

  #enter(client: net.Socket): void {
    // Its error is followed by its close, and that is all that matters.
    client.on("error", () => undefined);
    const target = this.#target;
    if (target === undefined) {
      client.destroy();
      return;
    }
    this.#open.set(client, target.id);
    const member = connectTo(target);
    const tooLate = setTimeout(() => client.destroy(), connectWithinMs);
    member.on("error", () => undefined);
    member.on(target.speakFor === undefined ? "connect" : "secureConnect", () => clearTimeout(tooLate));
    client.pipe(member);
    member.pipe(client);
    client.on("close", () => {
      clearTimeout(tooLate);
      this.#open.delete(client);
      member.destroy();
    });
    member.on("close", () => client.destroy());
  }
}

function connectTo({ host, port, speakFor }: Target): net.Socket {
  if (speakFor === undefined) return net.connect({ host, port, noDelay: true });
  const { tls: known, serverName } = speakFor();
  return tls.connect({
    host,
    port,
    ALPNProtocols: ["h2"],
    ...(known && { ca: known.ca, ...known.identity }),
    ...(serverName !== undefined && { servername: serverName }),
  });
}

export class Entrance implements AsyncDisposable {
  readonly #doors: readonly Door[];

  private constructor(doors: readonly Door[]) {
    this.#doors = doors;
  }

  static async open(doors: number): Promise<Entrance> {
    const made = Array.from({ length: doors }, () => new Door());
    await Promise.all(
      made.map(
        ({ server }) =>
          new Promise<void>((resolve, reject) => {
            server.once("error", reject);
            server.listen({ host: loopback, port: 0 }, resolve);
          }),
      ),
    );
    return new Entrance(made);
  }

  get ports(): number[] {
    return this.#doors.map(({ server }) => {
      const address = server.address();
      return typeof address === "object" ? (address?.port ?? 0) : 0;
    });
  }

  /** One target for each door; none: it refuses. */
  lead(targets: readonly (Target | undefined)[]): void {
    for (const [at, door] of this.#doors.entries()) door.leadTo(targets[at]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#doors.map((door) => door.close()));
  }
}

export interface Candidate {
  readonly id: string;
  readonly serves: boolean;
}

/**
 * Who is behind each door. A door keeps its member as long as that is there. A new one is a member that is behind no door
 * yet, before one that is, and one that serves before one that does not.
 */
export function assigned(before: readonly (string | undefined)[], candidates: readonly Candidate[]): string[] {
  const there = new Set(candidates.map(({ id }) => id));
  const doors = before.map((id) => (id !== undefined && there.has(id) ? id : undefined));
  for (const [at, id] of doors.entries()) {
    if (id !== undefined) continue;
    const uses = (one: Candidate): number => doors.filter((other) => other === one.id).length;
    const [best] = candidates.toSorted((a, b) => Number(b.serves) - Number(a.serves) || uses(a) - uses(b));
    doors[at] = best?.id;
  }
  return doors.map((id) => id ?? "");
}
