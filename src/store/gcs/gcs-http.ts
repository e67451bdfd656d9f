// Requests to Google's Cloud Storage, sent again where that may help. Google's own library limits the time of a whole
// upload, counts retries over it, and takes no CA of one's own; so it is used for credentials alone.
import * as http from "node:http";
import * as https from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import type { Agents } from "../agents.ts";
import { networkProblem } from "../network-problems.ts";
import { attempts, delayAfter } from "../retries.ts";

export interface GcsRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
}

/** What was answered and is not what was asked for. */
export class GcsRefusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, body: string) {
    const { message, reason } = wordsOf(body);
    super(message === "" ? `status ${status}` : message);
    this.name = "GcsRefusal";
    this.status = status;
    this.reason = reason;
  }
}

function wordsOf(body: string): { message: string; reason: string } {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: string; errors?: { reason?: string }[] } };
    return { message: error?.message ?? "", reason: error?.errors?.[0]?.reason ?? "" };
  } catch {
    return { message: body.slice(0, 300), reason: "" };
  }
}

export interface GcsAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** Resolves with the head of the answer; its body is still to be read. */
export function ask(agents: Agents, request: GcsRequest): Promise<http.IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const secure = request.url.startsWith("https:");
  const length = (request.body ?? []).reduce((sum, piece) => sum + piece.length, 0);
  const asked = (secure ? https : http).request(request.url, {
    method: request.method,
    agent: secure ? agents.https : agents.http,
    headers: { ...request.headers, ...(request.method !== "GET" && { "content-length": String(length) }) },
    ...(request.signal && { signal: request.signal }),
  });
  asked.on("response", resolve);
  asked.on("error", reject);
  for (const piece of request.body ?? []) asked.write(piece);
  asked.end();
  return promise;
}

export async function exchange(agents: Agents, request: GcsRequest): Promise<GcsAnswer> {
  const answer = await ask(agents, request);
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(pieces).toString() };
}

const isTransientStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** A few times, with growing delays, while the network or the store fails in a way that may be transient. */
export async function withRetries<T>(
  work: (attempt: number) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      signal?.throwIfAborted();
      if (attempt === attempts || !mayBeTransient(error)) throw error;
    }
    await pause(delayAfter(attempt), undefined, signal ? { signal } : {});
  }
}

const mayBeTransient = (error: unknown): boolean =>
  error instanceof GcsRefusal ? isTransientStatus(error.status) : networkProblem(error)?.code === "unavailable";
