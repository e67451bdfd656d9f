// The connections to a store: kept alive, given up when they cannot be made in time or when no byte moves for long. There
// is no limit on the whole of a request, because a slow store that moves is not a broken one.
import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getCACertificates } from "node:tls";

export interface Patience {
  readonly connectMs: number;
  /** Without a byte in either direction. Completing a large upload keeps some stores silent for a while. */
  readonly silentMs: number;
}

const patience: Patience = { connectMs: 10_000, silentMs: 60_000 };

export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
  destroy(): void;
}

export function storeAgents(ca: string | undefined, patient: Patience = patience): Agents {
  const plain = new PatientAgent(patient);
  const secure = new PatientTlsAgent(ca, patient);
  return {
    http: plain,
    https: secure,
    destroy() {
      plain.destroy();
      secure.destroy();
    },
  };
}

const agentOptions: http.AgentOptions = { keepAlive: true, maxSockets: 16 };

class PatientAgent extends http.Agent {
  readonly #patience: Patience;

  constructor(patient: Patience) {
    super(agentOptions);
    this.#patience = patient;
  }

  override createConnection(...args: Parameters<http.Agent["createConnection"]>): Duplex | null | undefined {
    return watched(super.createConnection(...args), "connect", this.#patience);
  }
}

class PatientTlsAgent extends https.Agent {
  readonly #patience: Patience;

  constructor(ca: string | undefined, patient: Patience) {
    // Beside the public ones: the same connections may ask a public service for credentials.
    super({ ...agentOptions, ...(ca !== undefined && { ca: [...getCACertificates("default"), ca] }) });
    this.#patience = patient;
  }

  override createConnection(...args: Parameters<https.Agent["createConnection"]>): Duplex | null | undefined {
    return watched(super.createConnection(...args), "secureConnect", this.#patience);
  }
}

function watched(
  made: Duplex | null | undefined,
  ready: "connect" | "secureConnect",
  { connectMs, silentMs }: Patience,
): Duplex | null | undefined {
  if (!isSocket(made)) return made;
  const socket = made;
  const late = setTimeout(() => socket.destroy(timedOut(`no connection within ${connectMs / 1000} s`)), connectMs);
  socket.once(ready, () => clearTimeout(late));
  socket.once("close", () => clearTimeout(late));
  socket.setTimeout(silentMs);
  socket.on("timeout", () => socket.destroy(timedOut(`nothing moved for ${silentMs / 1000} s`)));
  return socket;
}

const isSocket = (made: Duplex | null | undefined): made is Socket =>
  made !== null && made !== undefined && "setTimeout" in made;

const timedOut = (message: string): Error => Object.assign(new Error(message), { code: "ETIMEDOUT" });
