// The answers "no" of an API server, with the codes and reasons that the real one gives.
import { ApiError, type StatusCause } from "../../client/errors.ts";

/** A request whose parameters contradict each other. */
export const invalidRequest = (field: string, why: string): ApiError =>
  new ApiError(422, "Invalid", `the request is invalid: ${field}: ${why}`, [
    { reason: "FieldValueInvalid", field, message: why },
  ]);

/** `pods`, or `leases.coordination.k8s.io`: how the server names a resource in its messages. */
interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

const named = (resource: ResourceName): string =>
  resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;

export const notFound = (resource: ResourceName, name: string): ApiError =>
  new ApiError(404, "NotFound", `${named(resource)} "${name}" not found`);

export const noSuchResource = (): ApiError =>
  new ApiError(404, "NotFound", "the server could not find the requested resource");

export const alreadyExists = (resource: ResourceName, name: string): ApiError =>
  new ApiError(409, "AlreadyExists", `${named(resource)} "${name}" already exists`);

export const conflict = (resource: ResourceName, name: string, why: string): ApiError =>
  new ApiError(409, "Conflict", `Operation cannot be fulfilled on ${named(resource)} "${name}": ${why}`);

export const modifiedSince = (resource: ResourceName, name: string): ApiError =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );

export const fieldConflicts = (causes: readonly StatusCause[]): ApiError =>
  new ApiError(409, "Conflict", `Apply failed with ${causes.length} conflict(s)`, causes);

export const invalid = (resource: ResourceName, name: string, field: string, why: string): ApiError =>
  new ApiError(422, "Invalid", `${named(resource)} "${name}" is invalid: ${field}: ${why}`, [
    { reason: "FieldValueInvalid", field, message: why },
  ]);

export const badRequest = (why: string): ApiError => new ApiError(400, "BadRequest", why);

export const internalError = (why: string): ApiError => new ApiError(500, "InternalError", why);

export const expired = (why: string): ApiError => new ApiError(410, "Expired", why);

/** Asked for a version that the server does not have, even after waiting for it. */
export const fromTheFuture = (asked: number, current: number): ApiError =>
  new ApiError(504, "Timeout", `Too large resource version: ${asked}, current: ${current}`, [
    { reason: "ResourceVersionTooLarge", message: "Too large resource version" },
  ]);
