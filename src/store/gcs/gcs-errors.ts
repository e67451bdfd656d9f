// What Google's Cloud Storage refuses, in the codes of stores.
import type { Refusals } from "../attempt.ts";
import { networkProblem, statusProblem } from "../network-problems.ts";
import type { Finding, Wording } from "../sentences.ts";
import { GcsRefusal } from "./gcs-http.ts";

const user = "the role Storage Object User (roles/storage.objectUser) on the bucket";
const viewer = "the role Storage Object Viewer (roles/storage.objectViewer) on the bucket";

const wording: Wording = {
  place: "bucket",
  permissions: { write: user, delete: user, "clean up": user, read: viewer, "look up": viewer, list: viewer },
};

/** Whether the object is missing; where the bucket is missing, Google says so in words alone. */
export const isMissing = (error: unknown): boolean =>
  error instanceof GcsRefusal && error.status === 404 && !/bucket does not exist/i.test(error.message);

export const gcsRefusals: Refusals = {
  wording,
  finding: (error) => (error instanceof GcsRefusal ? refusal(error) : (networkProblem(error) ?? ofCredentials(error))),
};

function refusal({ status, reason, message }: GcsRefusal): Finding {
  const said = `${status}${reason === "" ? "" : ` ${reason}`}: ${message}`;
  if (/retention|hold|locked/i.test(reason) || /retention (policy|period)|active hold/i.test(message))
    return { code: "locked", said };
  if (/quotaExceeded/i.test(reason)) return { code: "full", said };
  switch (status) {
    case 404:
      return { code: "noBucket", said };
    case 412:
      return { code: "exists", said };
    case 408:
    case 410:
      return { code: "unavailable", said };
    default:
      return { ...statusProblem(status, said), said };
  }
}

/** Errors of Google's library for credentials have no common class; only these come from it. */
function ofCredentials(error: Error): Finding | undefined {
  const response = "response" in error ? error.response : undefined;
  const asked = typeof response === "object" && response !== null && "status" in response ? response.status : undefined;
  if (typeof asked === "number" && asked >= 500) return { code: "unavailable", said: error.message };
  const known = /credential|invalid_grant|invalid_client|token|private.?key|PEM|DECODER|JWT|client_email/i;
  return known.test(error.message) ? { code: "badCredentials", said: error.message } : undefined;
}
