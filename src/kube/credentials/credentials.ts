// How a client proves who it is. Where the proof comes from (a pod's service account, a kubeconfig, a plugin) is up
// to the implementations; all of them may return something new at any time.
import type { TlsOptions } from "../../transport/origin.ts";

export interface Credentials {
  /** URL of the API server; a path in it is put before every request's. */
  readonly server: string;
  /** What a new connection trusts and presents. */
  tls(): TlsOptions | Promise<TlsOptions>;
  /** The `authorization` header of a request, if any. */
  authorization(): string | undefined | Promise<string | undefined>;
  /** In whose name requests are made, where that is another than the one who proves who they are. */
  readonly impersonation?: Impersonation;
  /** The server did not accept the proof: the next one is read again, whatever was cached. */
  forget(): void;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

/** There are no credentials, or they cannot be used. The message says what to do. */
export class CredentialsError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "CredentialsError";
  }
}
