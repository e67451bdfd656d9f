// Reads `metav1.Status`, the form in which an API server says no, into an ApiError. Proxies in between answer with
// pages of their own, so that nothing about the body is taken for granted.
import { ApiError, type StatusCause } from "./errors.ts";

// What the reason would have been, had the answer come from the API server itself.
const reasonByCode: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** An answer with an error code, whatever its body. */
export function apiErrorOfResponse(
  request: string,
  code: number,
  retryAfter: string | string[] | undefined,
  body: string,
): ApiError {
  const status = parse(body);
  if (isFields(status) && status["kind"] === "Status") return apiErrorOfStatus(status, code, seconds(retryAfter));
  const message = `${request} was answered with ${code}: ${body.slice(0, 300)}`;
  return new ApiError(code, reasonByCode[code] ?? "Unknown", message, [], seconds(retryAfter));
}

/** A Status object, from a response or from inside a watch. */
export function apiErrorOfStatus(status: unknown, httpCode?: number, retryAfter?: number): ApiError {
  const fields = isFields(status) ? status : {};
  const details = isFields(fields["details"]) ? fields["details"] : {};
  const code = typeof fields["code"] === "number" ? fields["code"] : (httpCode ?? 500);
  const reason = text(fields["reason"]) ?? reasonByCode[code] ?? "Unknown";
  const message = text(fields["message"]) ?? `the API server answered ${code} ${reason}`;
  const wait = retryAfter ?? seconds(details["retryAfterSeconds"]);
  return new ApiError(code, reason, message, causesOf(details["causes"]), wait);
}

function causesOf(causes: unknown): StatusCause[] {
  if (!Array.isArray(causes)) return [];
  return causes.filter(isFields).map((cause) => {
    const reason = text(cause["reason"]);
    const field = text(cause["field"]);
    const message = text(cause["message"]);
    return {
      ...(reason === undefined ? {} : { reason }),
      ...(field === undefined ? {} : { field }),
      ...(message === undefined ? {} : { message }),
    };
  });
}

/** In milliseconds; undefined for anything but a number of seconds. Servers send 0 for "no opinion". */
function seconds(value: unknown): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? number * 1000 : undefined;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // a page from something in between
  }
}
