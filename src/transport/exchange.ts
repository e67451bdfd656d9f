// One request and its response on one stream. A response counts only if it is complete: the end was seen on a
// living stream, no reset, as many bytes as announced, and the receiver took them all.
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import type { Connection } from "./connection.ts";
import { TransportError } from "./errors.ts";
import { streamFailure } from "./failures.ts";
import type { Patience, PatienceOptions } from "./patience.ts";

export interface TransportRequest extends PatienceOptions {
  method: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  /** Sent whole; kept until the answer, because a server that goes away may make it be sent again. */
  body?: Uint8Array | string;
  /** Milliseconds until the response's headers must be here, for streams that have no deadline as a whole. */
  answerWithin?: number;
  /** Called just before the request goes out on a connection. What it throws ends the request, unsent. */
  beforeSend?: () => void;
}

export interface ResponseEnd {
  status: number;
  headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
}

/** Takes a response as it comes. What it throws ends the exchange and is what the caller gets. */
export interface Receiver {
  onHeaders?(status: number, headers: IncomingHttpHeaders): void;
  /** While a returned promise is pending nothing more is read, and the sender is held back by flow control. */
  onData(chunk: Buffer): void | Promise<void>;
}

/** Runs in a place that was reserved on the connection. */
export function exchange(
  connection: Connection,
  request: TransportRequest,
  receiver: Receiver,
  patience: Patience,
): Promise<ResponseEnd> {
  const { method, path, body } = request;
  try {
    patience.check(); // it may have ended after the place was given and before this ran
    request.beforeSend?.();
  } catch (error) {
    connection.release();
    throw error;
  }
  const headers = { ...request.headers, ":method": method, ":path": path };
  const stream = connection.open(headers, body === undefined);
  if (!stream) {
    connection.release();
    return Promise.reject(streamFailure(`${method} ${path}`, { rstCode: 0, error: undefined, beyondGoaway: true }));
  }
  return new Promise((resolve, reject) => {
    new Reception(connection, stream, request, receiver, patience).run(resolve, reject);
    if (body !== undefined) stream.end(body);
  });
}

class Reception {
  readonly #connection: Connection;
  readonly #stream: ClientHttp2Stream;
  readonly #request: TransportRequest;
  readonly #receiver: Receiver;
  readonly #patience: Patience;
  #status: number | undefined;
  #headers: IncomingHttpHeaders = {};
  #trailers: IncomingHttpHeaders = {};
  #bytes = 0;
  #ended = false;
  #cancelled = false;
  #error: unknown;
  #taking: Promise<void> | undefined;
  #answerTimer: NodeJS.Timeout | undefined;
  #resolve: (end: ResponseEnd) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(
    connection: Connection,
    stream: ClientHttp2Stream,
    request: TransportRequest,
    receiver: Receiver,
    patience: Patience,
  ) {
    this.#connection = connection;
    this.#stream = stream;
    this.#request = request;
    this.#receiver = receiver;
    this.#patience = patience;
  }

  run(resolve: (end: ResponseEnd) => void, reject: (reason: unknown) => void): void {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#patience.onGiveUp((reason) => this.#cancel(reason));
    if (this.#request.answerWithin !== undefined) this.#expectAnswer(this.#request.answerWithin);

    const stream = this.#stream;
    stream.on("response", (headers) => {
      clearTimeout(this.#answerTimer);
      const status = headers[":status"] ?? 0;
      this.#status = status;
      this.#headers = headers;
      this.#guard(() => this.#receiver.onHeaders?.(status, headers));
      // Not earlier: Node reports headers a tick later than data that came in one packet with them.
      stream.on("data", (chunk: Buffer) => {
        this.#bytes += chunk.length;
        this.#guard(() => this.#take(this.#receiver.onData(chunk)));
      });
    });
    stream.on("trailers", (trailers) => {
      this.#trailers = trailers;
    });
    stream.on("end", () => {
      // When the socket breaks on a draining connection, Node ends the stream as if all were well, but destroys
      // it first; an end that the peer sent comes on a stream that is still whole.
      this.#ended = !stream.destroyed;
    });
    stream.on("error", (error) => {
      this.#error ??= error;
    });
    stream.on("close", () => {
      clearTimeout(this.#answerTimer);
      if (this.#taking) void this.#taking.then(() => this.#settle());
      else this.#settle();
    });
  }

  #expectAnswer(within: number): void {
    this.#answerTimer = setTimeout(() => {
      this.#cancel(new TransportError("deadline", `${this.#what} had no answer within ${within} ms`));
    }, within);
  }

  /** Holds the stream while the receiver is busy with what it got. */
  #take(taken: void | Promise<void>): void {
    if (taken === undefined) return;
    this.#stream.pause();
    this.#taking = taken.then(
      () => {
        this.#taking = undefined;
        this.#stream.resume();
      },
      (error: unknown) => {
        this.#taking = undefined;
        this.#cancel(error);
      },
    );
  }

  #guard(callReceiver: () => void): void {
    if (this.#cancelled) return;
    try {
      callReceiver();
    } catch (error) {
      this.#cancel(error);
    }
  }

  #cancel(reason: unknown): void {
    clearTimeout(this.#answerTimer);
    this.#cancelled = true; // what is still buffered does not reach the receiver any more
    this.#reject(reason);
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#stream.resume(); // a stream that the peer has ended closes only when it is read to its end
  }

  #settle(): void {
    const complete = this.#ended && this.#error === undefined && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR;
    if (!complete || this.#status === undefined) {
      const beyondGoaway = this.#connection.isBeyondGoaway(this.#stream);
      const end = { rstCode: this.#stream.rstCode, error: this.#error ?? this.#connection.error, beyondGoaway };
      this.#reject(streamFailure(this.#what, end));
    } else if (this.#isShort()) {
      const announced = this.#headers["content-length"];
      const message = `${this.#what} broke off: ${this.#bytes} of ${announced} bytes came`;
      this.#reject(new TransportError("broken", message));
    } else {
      this.#resolve({ status: this.#status, headers: this.#headers, trailers: this.#trailers });
    }
  }

  #isShort(): boolean {
    const announced = this.#headers["content-length"];
    return announced !== undefined && this.#request.method !== "HEAD" && Number(announced) !== this.#bytes;
  }

  get #what(): string {
    return `${this.#request.method} ${this.#request.path}`;
  }
}
