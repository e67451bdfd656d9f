// Notices a peer that went silent without closing the connection (power loss, a black hole, a stopped process).
// Pings run only while streams are open: servers punish pings on idle connections, and an idle one has nobody waiting.

/** The part of an HTTP/2 session that is needed here. */
interface Pingable {
  readonly destroyed: boolean;
  readonly closed: boolean;
  ping(answered: (error: Error | null) => void): unknown;
  settings(settings: { enablePush: boolean }, answered: (error: Error | null) => void): unknown;
}

export interface LivenessOptions {
  /** Milliseconds between pings. etcd allows no less than 5 s. */
  pingInterval: number;
  /** Milliseconds that an answer may take. */
  pingTimeout: number;
}

export class Liveness {
  readonly #session: Pingable;
  readonly #options: LivenessOptions;
  readonly #onDead: () => void;
  readonly #now: () => number;
  #ticking: NodeJS.Timeout | undefined;
  #waiting: NodeJS.Timeout | undefined;
  #lastPing: number;
  #busy = false;

  constructor(session: Pingable, options: LivenessOptions, onDead: () => void, now = () => performance.now()) {
    this.#session = session;
    this.#options = options;
    this.#onDead = onDead;
    this.#now = now;
    this.#lastPing = now(); // the handshake has just shown that the peer lives
  }

  /** A stream was opened. On a connection that lay idle for long, the peer is asked at once, beside the request. */
  busy(): void {
    this.#busy = true;
    if (this.#ticking) return;
    this.#ticking = setInterval(() => this.#tick(), this.#options.pingInterval);
    this.#ticking.unref();
    if (this.#now() - this.#lastPing >= this.#options.pingInterval) this.#ping();
  }

  /** No stream is open. The timer runs on to its next tick, so that short requests in a row do not set it again. */
  idle(): void {
    this.#busy = false;
  }

  stop(): void {
    clearInterval(this.#ticking);
    clearTimeout(this.#waiting);
    this.#ticking = undefined;
    this.#waiting = undefined;
  }

  #tick(): void {
    if (this.#busy) {
      this.#ping();
    } else {
      clearInterval(this.#ticking);
      this.#ticking = undefined;
    }
  }

  #ping(): void {
    if (this.#waiting || this.#session.destroyed) return;
    this.#lastPing = this.#now();
    let answered = false;
    this.#waiting = setTimeout(() => {
      // After this process itself stood still, timers fire before the answers that lie in the socket are read:
      // only when one more round of reading brought nothing is the peer dead.
      setImmediate(() => {
        if (!answered && this.#waiting) this.#onDead();
      });
    }, this.#options.pingTimeout);
    this.#waiting.unref();
    const onAnswer = (error: Error | null): void => {
      answered = error === null;
      clearTimeout(this.#waiting);
      this.#waiting = undefined;
    };
    // Node sends no PING on a session that drains, although its streams may go on for minutes. SETTINGS have to be
    // acknowledged as well, and these change nothing.
    if (this.#session.closed) this.#session.settings({ enablePush: false }, onAnswer);
    else this.#session.ping(onAnswer);
  }
}
