// What Azure refuses, in the codes of stores.
import { RestError } from "@azure/storage-blob";
import type { Refusals } from "../attempt.ts";
import type { StoreErrorCode } from "../errors.ts";
import { networkProblem, statusProblem } from "../network-problems.ts";
import type { Finding, Wording } from "../sentences.ts";

const contributor = "the role Storage Blob Data Contributor on the container";
const reader = "the role Storage Blob Data Reader on the container";

const wording: Wording = {
  place: "container",
  permissions: {
    write: contributor,
    delete: contributor,
    "clean up": contributor,
    read: reader,
    "look up": reader,
    list: reader,
  },
};

const codes: Readonly<Record<string, StoreErrorCode>> = {
  ContainerNotFound: "noBucket",
  ContainerBeingDeleted: "noBucket",
  ContainerDisabled: "forbidden",
  AuthenticationFailed: "badCredentials",
  InvalidAuthenticationInfo: "badCredentials",
  NoAuthenticationInformation: "badCredentials",
  KeyBasedAuthenticationNotPermitted: "badCredentials",
  AuthorizationFailure: "forbidden",
  AuthorizationPermissionMismatch: "forbidden",
  AuthorizationProtocolMismatch: "forbidden",
  AuthorizationSourceIPMismatch: "forbidden",
  InsufficientAccountPermissions: "forbidden",
  AccountIsDisabled: "forbidden",
  BlobAlreadyExists: "exists",
  ConditionNotMet: "exists",
  BlobImmutableDueToPolicy: "locked",
  BlobImmutableDueToLegalHold: "locked",
  LeaseIdMissing: "locked",
  AccountCapacityExceeded: "full",
  CapacityExceeded: "full",
  // Another upload of the same key was completed first.
  InvalidBlockList: "unavailable",
  ServerBusy: "unavailable",
  OperationTimedOut: "unavailable",
};

/** Of `@azure/identity`. */
const identityErrors =
  /^(CredentialUnavailableError|AuthenticationError|AggregateAuthenticationError|AuthenticationRequiredError)$/;

interface AzureProblem {
  readonly code: string;
  readonly status: number | undefined;
}

export const azureProblem = (error: unknown): AzureProblem =>
  error instanceof RestError ? { code: error.code ?? "", status: error.statusCode } : { code: "", status: undefined };

/** A missing container is another matter; a HEAD cannot tell, and has no code at all. */
export function isMissing(error: unknown): boolean {
  const { code, status } = azureProblem(error);
  return status === 404 && code !== "ContainerNotFound" && code !== "ContainerBeingDeleted";
}

export const azureRefusals: Refusals = { wording, finding };

function finding(error: Error): Finding | undefined {
  // The lines after the first are a request id and a time.
  const first = error.message.split("\n")[0] ?? "";
  if (identityErrors.test(error.name)) return { code: "badCredentials", said: first };
  // The SDK's name for a body that broke off; a caller's own signal is checked before this.
  if (error.name === "AbortError") return { code: "unavailable", what: "the answer broke off", said: first };
  const { code, status } = azureProblem(error);
  const said = code === "" || first.startsWith(code) ? first : `${code}: ${first}`;
  // Azurite has another code for a wrong key than Azure.
  if (/failed to authenticate the request/i.test(first)) return { code: "badCredentials", said };
  const known = codes[code];
  if (known) return { code: known, said };
  if (status !== undefined) return statusProblem(status, said);
  const network = networkProblem(error);
  if (network) return network;
  return error instanceof RestError ? { code: "unavailable", said } : undefined;
}
