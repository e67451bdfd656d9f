// Errors of sockets, of TLS and of HTTP, which look the same whatever the store is.
import type { Finding } from "./sentences.ts";

const passing: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at the endpoint",
  ECONNRESET: "the connection broke off",
  ECONNABORTED: "the connection broke off",
  EPIPE: "the connection broke off",
  ERR_STREAM_PREMATURE_CLOSE: "the answer broke off",
  HPE_INVALID_EOF_STATE: "the answer broke off",
  ETIMEDOUT: "the endpoint does not answer in time",
  ESOCKETTIMEDOUT: "the endpoint does not answer in time",
  ENOTFOUND: "the name of the endpoint is not known to DNS",
  EAI_AGAIN: "DNS does not answer",
  EHOSTUNREACH: "there is no way to the endpoint",
  ENETUNREACH: "there is no way to the endpoint",
  ENETDOWN: "there is no way to the endpoint",
};

const untrusted =
  "Give the CA of the endpoint as ca.crt in the Secret for it, or use an endpoint whose certificate is publicly trusted";

const certificate: Readonly<Record<string, { what: string; advice: string }>> = {
  SELF_SIGNED_CERT_IN_CHAIN: { what: "the endpoint's certificate is not trusted", advice: untrusted },
  DEPTH_ZERO_SELF_SIGNED_CERT: { what: "the endpoint's certificate is not trusted", advice: untrusted },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { what: "the endpoint's certificate is not trusted", advice: untrusted },
  UNABLE_TO_GET_ISSUER_CERT: { what: "the endpoint's certificate is not trusted", advice: untrusted },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { what: "the endpoint's certificate is not trusted", advice: untrusted },
  CERT_HAS_EXPIRED: { what: "the endpoint's certificate has expired", advice: "Renew it" },
  CERT_NOT_YET_VALID: {
    what: "the endpoint's certificate is not valid yet",
    advice: "Compare the clocks of the node and of the store",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    what: "the endpoint's certificate is for another name",
    advice: "Use a name that the certificate has, or have one issued for this name",
  },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    what: "the endpoint does not speak TLS",
    advice: "Turn TLS on there; where no token is sent, an endpoint with http:// is possible, too",
  },
  HPE_INVALID_CONSTANT: { what: "the endpoint does not speak HTTP", advice: "Correct the endpoint" },
};

/** Undefined when the error, and all that caused it, is something else. */
export function networkProblem(error: unknown): Finding | undefined {
  for (const { code, message } of chain(error)) {
    const said = message === "" ? code : message;
    const bad = certificate[code];
    if (bad) return { code: "refused", ...bad, said };
    const what = passing[code];
    if (what !== undefined) return { code: "unavailable", what, said };
  }
  return undefined;
}

/** By the status alone, where the store has no code for it that is known. */
export function statusProblem(status: number, said: string): Finding {
  if (status === 401) return { code: "badCredentials", said };
  if (status === 403) return { code: "forbidden", said };
  if (status === 507) return { code: "full", said };
  return { code: status === 429 || status >= 500 ? "unavailable" : "refused", said: `${status} ${said}` };
}

/** Some libraries put the socket's error below one of their own; several addresses make an AggregateError. */
function chain(error: unknown, depth = 0): { code: string; message: string }[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const below = error instanceof AggregateError ? [error.cause, error.errors[0]] : [error.cause];
  return [{ code, message: error.message }, ...below.flatMap((cause) => chain(cause, depth + 1))];
}
