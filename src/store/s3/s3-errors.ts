// What S3, and stores that speak it, refuse, in the codes of stores.
import { S3ServiceException } from "@aws-sdk/client-s3";
import type { Refusals } from "../attempt.ts";
import type { StoreErrorCode } from "../errors.ts";
import { networkProblem, statusProblem } from "../network-problems.ts";
import type { Finding, Verb, Wording } from "../sentences.ts";

const wording: Wording = {
  place: "bucket",
  permissions: {
    write: "s3:PutObject and s3:AbortMultipartUpload on the objects",
    read: "s3:GetObject on the objects and s3:ListBucket on the bucket",
    "look up": "s3:GetObject on the objects and s3:ListBucket on the bucket",
    list: "s3:ListBucket on the bucket",
    delete: "s3:DeleteObject on the objects",
    "clean up": "s3:ListBucketMultipartUploads on the bucket and s3:AbortMultipartUpload on the objects",
  },
};

const codes: Readonly<Record<string, StoreErrorCode>> = {
  NoSuchBucket: "noBucket",
  InvalidAccessKeyId: "badCredentials",
  SignatureDoesNotMatch: "badCredentials",
  InvalidToken: "badCredentials",
  ExpiredToken: "badCredentials",
  ExpiredTokenException: "badCredentials",
  InvalidClientTokenId: "badCredentials",
  InvalidIdentityToken: "badCredentials",
  UnrecognizedClientException: "badCredentials",
  CredentialsProviderError: "badCredentials",
  TokenProviderError: "badCredentials",
  InvalidSecurity: "badCredentials",
  AccessDenied: "forbidden",
  AllAccessDisabled: "forbidden",
  AccountProblem: "forbidden",
  PreconditionFailed: "exists",
  QuotaExceeded: "full",
  ServiceQuotaExceeded: "full",
  ServiceQuotaExceededException: "full",
  InsufficientStorage: "full",
  XMinioStorageFull: "full",
  XMinioAdminBucketQuotaExceeded: "full",
  StorageFull: "full",
  FileImmutable: "locked",
  ObjectLocked: "locked",
  TimeoutError: "unavailable",
  RequestTimeout: "unavailable",
  SlowDown: "unavailable",
  TooManyRequests: "unavailable",
  // Somebody else completes or deletes the same key.
  ConditionalRequestConflict: "unavailable",
  OperationAborted: "unavailable",
};

const advised: Readonly<Record<string, Pick<Finding, "what" | "advice">>> = {
  RequestTimeTooSkewed: {
    what: "the clocks of the node and of the store differ too much",
    advice: "Set the clock of the node",
  },
  AuthorizationHeaderMalformed: {
    what: "the region is not the one of the bucket",
    advice: "Set the region, in the config entry of the Secret or in the spec",
  },
  PermanentRedirect: {
    what: "the bucket is in another region, or at another endpoint",
    advice: "Set its region or its endpoint",
  },
  SecondLevelDomainForbidden: {
    what: "the store wants the name of the bucket in the host's name",
    advice: "Leave forcePathStyle unset",
  },
  InvalidBucketName: { what: "the name of the bucket is not valid", advice: "Correct the path" },
  NotImplemented: { what: "the store does not have this function", advice: "Use a store that has it" },
};

interface S3Problem {
  /** The store's own name of the error. */
  readonly name: string;
  readonly status: number | undefined;
  readonly message: string;
}

export function s3Problem(error: unknown): S3Problem {
  if (!(error instanceof Error)) return { name: "", status: undefined, message: String(error) };
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : statusOf(error);
  return { name: error.name, status, message: error.message };
}

/** An answer that is no XML has its status elsewhere. */
function statusOf(error: Error): number | undefined {
  const metadata = "$metadata" in error ? error.$metadata : undefined;
  if (typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata)
    return typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : undefined;
  const response = "$response" in error ? error.$response : undefined;
  if (typeof response === "object" && response !== null && "statusCode" in response)
    return typeof response.statusCode === "number" ? response.statusCode : undefined;
  return undefined;
}

/** Whether the object or the upload is missing; a missing bucket is another matter. */
export const isMissing = (error: unknown): boolean =>
  ["NoSuchKey", "NotFound", "NoSuchUpload"].includes(s3Problem(error).name);

export const s3Refusals: Refusals = { wording, finding };

function finding(error: Error, to: Verb): Finding | undefined {
  const { name, status, message } = s3Problem(error);
  const said = message === name || message === "UnknownError" ? name : `${name}: ${message}`;
  const changes = to === "write" || to === "delete";
  // AWS has no code of its own for it.
  if (changes && /object.?lock|retention|legal.?hold|worm\b|immutable/i.test(message)) return { code: "locked", said };
  if (/no space left|disk quota exceeded|quota.*exceeded/i.test(message)) return { code: "full", said };
  const known = codes[name];
  if (known) return { code: known, said, ...networkWhat(known, error) };
  const network = networkProblem(error);
  if (network) return network;
  if (name in advised) return { code: "refused", said, ...advised[name] };
  if (status === undefined) return undefined;
  const problem = statusProblem(status, said);
  if (problem.code !== "refused" || error instanceof S3ServiceException) return problem;
  return {
    ...problem,
    what: "what answers at the endpoint does not speak S3",
    advice: "Correct the endpoint: its name, its port, http:// or https://",
  };
}

/** The SDK calls a connection that broke a TimeoutError; the socket's error below says more. */
function networkWhat(code: StoreErrorCode, error: unknown): Pick<Finding, "what"> {
  const what = code === "unavailable" ? networkProblem(error)?.what : undefined;
  return what === undefined ? {} : { what };
}
