// How large bodies go over TLS. They are left out of the signature of their request, as AWS's own tools do: what TLS
// authenticates on the way need not be hashed once more by both ends, and a gigabyte costs each of them a second. Over plain
// HTTP the signature is all that keeps others from changing a body, so it stays in. Whether a store kept what it was sent is
// another matter: a backup is read back and compared by its SHA-256.
// And they go in slices, because Node encrypts at once whatever it is given, and would hold a part twice.
import { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import { large } from "./payload-hash.ts";

/** What the signature has in place of the hash of a body. */
const unsigned = "UNSIGNED-PAYLOAD";
const sliceBytes = 256 * 1024;

/** `unsignedWanted` is asked before each request. */
export function sendBodiesOverTls(client: Pick<S3Client, "middlewareStack">, unsignedWanted: () => boolean): void {
  client.middlewareStack.add(
    (next) => (args) => {
      if (unsignedWanted() && isLargeOverTls(args.request)) args.request.headers["x-amz-content-sha256"] = unsigned;
      return next(args);
    },
    { step: "build", name: "leaveBodiesUnsigned" },
  );
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args;
      // Signed by now. A further attempt begins with the bytes again.
      return next(isLargeOverTls(request) ? { ...args, request: { ...request, body: sliced(request.body) } } : args);
    },
    { step: "deserialize", name: "sliceBodies", priority: "low" },
  );
}

const sliced = (body: Uint8Array): Readable =>
  Readable.from(slices(body), { objectMode: false, highWaterMark: sliceBytes });

function* slices(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += sliceBytes) yield body.subarray(at, at + sliceBytes);
}

interface Request {
  readonly protocol: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** What is less is sent as ever: it costs nothing. */
function isLargeOverTls(request: unknown): request is Request {
  if (typeof request !== "object" || request === null || !("body" in request) || !("protocol" in request)) return false;
  return request.protocol === "https:" && request.body instanceof Uint8Array && request.body.length >= large;
}
