// Errors of the Kubernetes API, distinguished by fields and never by text. Which of them the client retries is in the
// table of `retry.ts`.
import { TransportError } from "../../transport/errors.ts";
import { shortened } from "../../transport/shortened.ts";

export interface StatusCause {
  reason?: string;
  field?: string;
  message?: string;
}

/** A refusal repeats the value that it is about, which may be as long as somebody made it. */
const longestMessage = 4096;

/** The API server answered, and the answer was no. */
export class ApiError extends Error {
  /** HTTP status, or the code of an in-band watch error. */
  readonly code: number;
  /** `metav1.StatusReason`: NotFound, AlreadyExists, Conflict, Invalid, Expired, TooManyRequests, … */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** Milliseconds that the server asked to be left alone for. */
  readonly retryAfter: number | undefined;

  constructor(code: number, reason: string, message: string, causes: readonly StatusCause[] = [], retryAfter?: number) {
    super(shortened(message, longestMessage));
    this.name = "ApiError";
    this.code = code;
    this.reason = reason;
    this.causes = causes;
    this.retryAfter = retryAfter;
  }
}

function hasReason(error: unknown, ...reasons: string[]): boolean {
  return error instanceof ApiError && reasons.includes(error.reason);
}

export const isNotFound = (error: unknown): boolean => hasReason(error, "NotFound");
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, "AlreadyExists");
/** Another writer was first, or a precondition did not hold. AlreadyExists is 409 too, and is not this. */
export const isConflict = (error: unknown): boolean => hasReason(error, "Conflict");
export const isInvalid = (error: unknown): boolean => hasReason(error, "Invalid");
export const isForbidden = (error: unknown): boolean => hasReason(error, "Forbidden");
/** A page of a list, or an event of a watch, is more than is taken. */
export const isTooLarge = (error: unknown): boolean => error instanceof TransportError && error.failure === "tooLarge";
/** What a healthy API server and its network do every day: the caller tries again, and nobody has to act. */
export function isRoutine(error: unknown): boolean {
  if (error instanceof TransportError) return error.failure === "broken" || error.failure === "unprocessed";
  return isExpired(error) || isConflict(error) || hasReason(error, "TooManyRequests");
}
/** The resource version is too old: list again. */
export const isExpired = (error: unknown): boolean => hasReason(error, "Expired", "Gone");
