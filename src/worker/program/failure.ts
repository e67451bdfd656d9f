// A job that failed: a code for the controllers, a sentence for people.
import { EtcdError } from "../../etcd/errors.ts";
import { withoutSecrets } from "../../kube/process/redact.ts";
import { SealError, type SealErrorCode } from "../../seal/errors.ts";
import { StoreError } from "../../store/errors.ts";
import { TransportError } from "../../transport/errors.ts";
import type { FailureCode, Result } from "../job.ts";

export class WorkerFailure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WorkerFailure";
    this.code = code;
  }
}

const bySeal: Readonly<Record<SealErrorCode, FailureCode>> = {
  notSealed: "damaged",
  keyMissing: "keyMissing",
  wrongKey: "wrongKey",
  tampered: "tampered",
  truncated: "damaged",
  newerFormat: "failed",
  badKey: "misconfigured",
};

function codeOf(error: unknown): FailureCode {
  if (error instanceof WorkerFailure) return error.code;
  if (error instanceof StoreError) return "store";
  if (error instanceof EtcdError || error instanceof TransportError) return "etcd";
  if (error instanceof SealError) return bySeal[error.code];
  return "failed";
}

export function failureOf(error: unknown): Result & { ok: false } {
  const text = error instanceof Error ? error.message : String(error);
  const { message } = withoutSecrets({ message: text });
  return { ok: false, code: codeOf(error), message: String(message) };
}

/** No errors of the program itself: their stack is of no use to anybody. */
export const isExpected = (error: unknown): boolean => codeOf(error) !== "failed" || error instanceof WorkerFailure;

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/** What a full disk means, said by whom it happened to. */
export const diskFull = (folder: string, cause?: unknown): WorkerFailure =>
  new WorkerFailure(
    "failed",
    `There is no space left in ${folder}, which has to hold the snapshot. Give it a larger volume.`,
    { cause },
  );
