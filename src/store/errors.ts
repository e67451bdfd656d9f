// What goes wrong with a store, one code for each. The sentence names the store and says what to do.

export type StoreErrorCode =
  /** The bucket, container or folder does not exist. */
  | "noBucket"
  /** The keys are not accepted, or there are none. */
  | "badCredentials"
  /** The keys are accepted and may not do this. */
  | "forbidden"
  /** Nobody answers, or not in time, or the answer breaks off; also 5xx after retries. */
  | "unavailable"
  /** No space left, or a quota is reached. */
  | "full"
  /** `mustBeNew`, and there is one. */
  | "exists"
  /** Kept by a retention or legal hold of the store. */
  | "locked"
  /** The request itself is wrong: a setting has to be corrected. */
  | "refused";

export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.code = code;
  }
}
