// What goes wrong with encrypted objects, one code for each.

export type SealErrorCode =
  | "notSealed"
  /** The object is encrypted with a key that is not there. */
  | "keyMissing"
  /** There is a key of that name, and it is another one. */
  | "wrongKey"
  /** Bytes were changed after they were encrypted. */
  | "tampered"
  /** The end is missing. */
  | "truncated"
  /** Written by a newer version of this program. */
  | "newerFormat"
  /** A key that cannot be one. */
  | "badKey";

export class SealError extends Error {
  readonly code: SealErrorCode;

  constructor(code: SealErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SealError";
    this.code = code;
  }
}
