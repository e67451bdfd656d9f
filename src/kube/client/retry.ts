// The one place that says which failed requests the client sends again by itself, and after how long. What is not
// repeated here goes to the caller, which decides again.
import { TransportError, type TransportFailure } from "../../transport/errors.ts";
import { type Backoff, backoffDelay } from "../clock.ts";
import { ApiError } from "./errors.ts";

/**
 * Whether a request may be carried out twice. A create must not: the second would fail with AlreadyExists and hide
 * the success of the first. Reads, server-side applies and deletes of one uid give the same outcome again.
 */
export type Repeatability = "idempotent" | "once";

interface Rule {
  readonly on:
    | { readonly failure: TransportFailure }
    | { readonly code: number }
    /** The server said when to come back. */
    | { readonly code: number; readonly invited: true }
    | { readonly cause: string };
  readonly repeat: "always" | "ifIdempotent" | "never";
  readonly wait: Backoff;
  /** How often the request is sent at most, the first time included. */
  readonly attempts: number;
}

const brief: Backoff = { firstMs: 50, maxMs: 1000, jitter: 0.5 };
const steady: Backoff = { firstMs: 250, maxMs: 5000, jitter: 0.5 };

// The first rule that fits counts; what none fits is not repeated. 409 is missing on purpose: after a lost race the
// caller has to read again before it writes.
const rules: readonly Rule[] = [
  // The server did not act on the request.
  { on: { failure: "unreachable" }, repeat: "always", wait: steady, attempts: 100 },
  { on: { failure: "connectTimeout" }, repeat: "always", wait: steady, attempts: 100 },
  { on: { failure: "unprocessed" }, repeat: "always", wait: brief, attempts: 100 },
  // It may have.
  { on: { failure: "broken" }, repeat: "ifIdempotent", wait: brief, attempts: 10 },
  { on: { failure: "dead" }, repeat: "ifIdempotent", wait: brief, attempts: 10 },
  // Waiting does not help.
  { on: { failure: "tls" }, repeat: "never", wait: steady, attempts: 1 },
  { on: { failure: "deadline" }, repeat: "never", wait: steady, attempts: 1 },
  // An eviction that a disruption budget forbids is 429 too, but it is an answer, not a queue.
  { on: { cause: "DisruptionBudget" }, repeat: "never", wait: steady, attempts: 1 },
  // Turned away before anything happened.
  { on: { code: 429 }, repeat: "always", wait: steady, attempts: 20 },
  { on: { code: 503, invited: true }, repeat: "always", wait: steady, attempts: 20 },
  // Something failed on the way, perhaps after the write.
  { on: { code: 500, invited: true }, repeat: "ifIdempotent", wait: steady, attempts: 10 },
  { on: { code: 500 }, repeat: "ifIdempotent", wait: steady, attempts: 3 },
  { on: { code: 502 }, repeat: "ifIdempotent", wait: steady, attempts: 10 },
  { on: { code: 503 }, repeat: "ifIdempotent", wait: steady, attempts: 10 },
  { on: { code: 504 }, repeat: "ifIdempotent", wait: steady, attempts: 5 },
];

function fits(rule: Rule, error: unknown): boolean {
  const { on } = rule;
  if ("failure" in on) return error instanceof TransportError && error.failure === on.failure;
  if (!(error instanceof ApiError)) return false;
  if ("cause" in on) return error.causes.some((cause) => cause.reason === on.cause);
  return error.code === on.code && (!("invited" in on) || error.retryAfter !== undefined);
}

export interface RequestAttempt {
  /** How often the request has been sent, from 1. */
  readonly count: number;
  readonly repeatability: Repeatability;
  /** Milliseconds that the request has left. */
  readonly remaining: number;
  /** In [0, 1). */
  readonly chance: number;
}

/** Milliseconds to wait before sending the request again, or undefined when it is not sent again. */
export function retryDelay(error: unknown, attempt: RequestAttempt): number | undefined {
  const rule = rules.find((candidate) => fits(candidate, error));
  if (!rule || rule.repeat === "never" || attempt.count >= rule.attempts) return undefined;
  if (rule.repeat === "ifIdempotent" && attempt.repeatability !== "idempotent") return undefined;
  const asked = error instanceof ApiError ? error.retryAfter : undefined;
  const delay =
    asked === undefined ? backoffDelay(rule.wait, attempt.count, attempt.chance) : asked * (1 + 0.1 * attempt.chance); // a little late, so that those turned away together do not return together
  return delay < attempt.remaining ? delay : undefined;
}
