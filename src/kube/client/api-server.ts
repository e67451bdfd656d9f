// One API server as the client sees it: sends a call with the current credentials, repeats it by the table in
// `retry.ts` until its deadline, and turns every refusal into an ApiError.
import { Collected } from "../../transport/collected.ts";
import { TransportError } from "../../transport/errors.ts";
import type { TransportObserver } from "../../transport/events.ts";
import { Http2Origin } from "../../transport/origin.ts";
import type { RequestOptions } from "./api.ts";
import { pause, systemClock } from "../clock.ts";
import type { Credentials, Impersonation } from "../credentials/credentials.ts";
import { ApiError } from "./errors.ts";
import { type Repeatability, retryDelay } from "./retry.ts";
import { apiErrorOfResponse } from "./status.ts";

export interface ApiServerOptions {
  credentials: Credentials;
  userAgent?: string;
  /** Milliseconds for a request that names no deadline of its own. */
  deadline?: number;
  observeTransport?: TransportObserver;
  /** Called for each request that was sent, retries included. Must not throw. */
  observeRequest?: (sent: SentRequest) => void;
  connectTimeout?: number;
  pingInterval?: number;
  pingTimeout?: number;
}

export interface SentRequest {
  verb: Verb;
  /** Plural and group, as in `leases.coordination.k8s.io`; empty for a raw request. */
  resource: string;
  /** HTTP status, or the code of an error inside a watch; where none came, what happened instead. */
  outcome: number | TransportError["failure"] | "aborted" | "failed";
  /** Milliseconds. */
  took: number;
  /** From 1; more when it was repeated. */
  attempt: number;
}

type Verb = "get" | "list" | "watch" | "create" | "update" | "apply" | "patch" | "delete" | "raw";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Call {
  verb: Verb;
  resource: string;
  method: Method;
  path: string;
  repeatability: Repeatability;
  body?: object;
  contentType?: string;
}

export interface Answer {
  status: number;
  contentType: string;
  text: string;
}

const json = "application/json";
const usualDeadline = 30_000;
/** A stream is answered at once, or as soon as the server's own queue lets it through. */
const streamAnswerWithin = 60_000;
/**
 * Bytes. The largest object is some 9 MiB (see watch-decoder.ts); of a list whose page is larger, smaller pages are asked
 * for.
 */
const mostOfAnAnswer = 16 << 20;
const longestRefusal = 1 << 20;
const neverAborts = new AbortController().signal;

export function describeCall(call: Call): string {
  return `${call.method} ${call.path}`;
}

export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #credentials: Credentials;
  readonly #origin: Http2Origin;
  readonly #basePath: string;

  constructor(options: ApiServerOptions) {
    const { credentials, observeTransport, connectTimeout, pingInterval, pingTimeout } = options;
    this.#options = options;
    this.#credentials = credentials;
    this.#basePath = new URL(credentials.server).pathname.replace(/\/+$/, "");
    this.#origin = new Http2Origin(credentials.server, {
      tls: () => credentials.tls(),
      ...(observeTransport === undefined ? {} : { observe: observeTransport }),
      ...(connectTimeout === undefined ? {} : { connectTimeout }),
      ...(pingInterval === undefined ? {} : { pingInterval }),
      ...(pingTimeout === undefined ? {} : { pingTimeout }),
    });
  }

  /** Gives the whole answer, which is a good one. */
  async send(call: Call, { deadline, signal = neverAborts, beforeSend }: RequestOptions): Promise<Answer> {
    const until = performance.now() + (deadline ?? this.#options.deadline ?? usualDeadline);
    let renewed = false;
    for (let count = 1; ; count += 1) {
      try {
        const patience = { deadline: until - performance.now(), signal, ...(beforeSend && { beforeSend }) };
        return await this.#sendOnce(call, patience, count);
      } catch (error) {
        if (isUnauthorized(error) && !renewed) {
          renewed = true;
          await this.#renewCredentials();
          continue;
        }
        const remaining = until - performance.now();
        const attempt = { count, repeatability: call.repeatability, remaining, chance: Math.random() };
        const delay = signal.aborted ? undefined : retryDelay(error, attempt);
        if (delay === undefined) throw error;
        await pause(systemClock, delay, signal);
        signal.throwIfAborted();
      }
    }
  }

  /** Hands on the answer as it comes. Not repeated: only the caller knows from where to go on. */
  async stream(call: Call, signal: AbortSignal, onData: (chunk: Buffer) => void): Promise<void> {
    let begun = false;
    const onFirstData = (chunk: Buffer): void => {
      begun = true;
      onData(chunk);
    };
    try {
      await this.#streamOnce(call, signal, onFirstData, 1);
    } catch (error) {
      if (begun || !isUnauthorized(error)) throw error;
      await this.#renewCredentials();
      await this.#streamOnce(call, signal, onData, 2);
    }
  }

  close(): void {
    this.#origin.close();
  }

  async #sendOnce(call: Call, patience: RequestOptions & { signal: AbortSignal }, attempt: number): Promise<Answer> {
    const request = { ...(await this.#request(call)), ...patience };
    return this.#observed(call, attempt, patience.signal, async () => {
      const { status, headers, body } = await this.#origin.fetch(request, mostOfAnAnswer);
      const text = body.toString("utf8");
      if (status < 200 || status > 299) {
        throw apiErrorOfResponse(describeCall(call), status, headers["retry-after"], text);
      }
      return { status, contentType: headers["content-type"] ?? "", text };
    });
  }

  async #streamOnce(call: Call, signal: AbortSignal, onData: (chunk: Buffer) => void, attempt: number): Promise<void> {
    const request = { ...(await this.#request(call)), signal, answerWithin: streamAnswerWithin };
    const refusal = new Collected(describeCall(call), longestRefusal);
    let good = false;
    await this.#observed(call, attempt, signal, async () => {
      const { status, headers } = await this.#origin.send(request, {
        onHeaders(code) {
          good = code === 200;
        },
        onData(chunk) {
          if (good) onData(chunk);
          else refusal.add(chunk);
        },
      });
      if (!good) {
        const text = refusal.body.toString("utf8");
        throw apiErrorOfResponse(describeCall(call), status, headers["retry-after"], text);
      }
      return { status };
    });
  }

  async #request(call: Call) {
    const authorization = await this.#credentials.authorization();
    const { method, body, contentType } = call;
    const headers = {
      accept: json,
      "user-agent": this.#options.userAgent ?? "etcd-operator",
      ...(body === undefined ? {} : { "content-type": contentType ?? json }),
      ...(authorization === undefined ? {} : { authorization }),
      ...impersonating(this.#credentials.impersonation),
    };
    const path = this.#basePath + call.path;
    return { method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  }

  async #observed<T extends { status: number }>(
    call: Call,
    attempt: number,
    signal: AbortSignal,
    run: () => Promise<T>,
  ): Promise<T> {
    const { observeRequest } = this.#options;
    if (!observeRequest) return run();
    const startedAt = performance.now();
    const report = (outcome: SentRequest["outcome"]): void => {
      const took = performance.now() - startedAt;
      observeRequest({ verb: call.verb, resource: call.resource, outcome, took, attempt });
    };
    try {
      const result = await run();
      report(result.status);
      return result;
    } catch (error) {
      if (error instanceof ApiError) report(error.code);
      else if (error instanceof TransportError) report(error.failure);
      else report(signal.aborted ? "aborted" : "failed");
      throw error;
    }
  }

  /** A token is new with the next request; a certificate only with a new connection. */
  async #renewCredentials(): Promise<void> {
    this.#credentials.forget();
    const { cert } = await this.#credentials.tls();
    if (cert !== undefined) this.#origin.renew();
  }
}

function impersonating(whom: Impersonation | undefined): Record<string, string | string[]> {
  if (whom === undefined) return {};
  const { user, uid, groups } = whom;
  return {
    "impersonate-user": user,
    ...(uid !== undefined && { "impersonate-uid": uid }),
    ...(groups.length > 0 && { "impersonate-group": [...groups] }),
  };
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.code === 401;
}
