// One upload to Google's Cloud Storage: a small body by one request, a larger one in a session that takes it piece by
// piece and makes the object with the last one. A session that is left ends after a week.
import { createHash, type Hash, randomUUID } from "node:crypto";
import type { StoreAttempt } from "../attempt.ts";
import { mark } from "../base-store.ts";
import { type Part, sendParts } from "../parts.ts";
import type { PutOptions } from "../store.ts";
import type { GcsConnection } from "./gcs-client.ts";
import { exchange, GcsRefusal, withRetries } from "./gcs-http.ts";

interface GcsUpload {
  readonly at: GcsConnection;
  readonly key: string;
  readonly options: PutOptions;
  readonly attempt: StoreAttempt;
}

/** In which a session that failed is given up. */
const cancelMs = 10_000;

export async function uploadToGcs(upload: GcsUpload, body: AsyncIterable<Uint8Array>): Promise<void> {
  const { options, attempt } = upload;
  // Before gigabytes are sent in vain. What the store says at the end decides.
  if (options.mustBeNew === true && (await markOf(upload)) !== undefined) throw attempt.failure("exists");
  const hash = createHash("md5");
  let session: string | undefined;
  let complete = false;
  const sendPart = async (part: Part): Promise<void> => {
    hash.update(part.bytes);
    if (part.last && part.number === 1) await putWhole(upload, part.bytes, hash);
    else {
      session ??= await begin(upload);
      await putPiece(upload, session, part, hash);
    }
    complete = part.last;
  };
  try {
    await sendParts(body, sendPart, options);
  } finally {
    if (session !== undefined && !complete) await cancel(upload.at, session);
  }
}

const condition = ({ mustBeNew = false }: PutOptions): { ifGenerationMatch?: string } =>
  mustBeNew ? { ifGenerationMatch: "0" } : {};

async function putWhole(upload: GcsUpload, bytes: Buffer, hash: Hash): Promise<void> {
  const { at, key, options } = upload;
  const id = randomUUID();
  const contentType = options.contentType ?? "application/octet-stream";
  const description = { name: key, contentType, md5Hash: hash.digest("base64"), metadata: { [mark]: id } };
  const border = `part-${id}`;
  const front =
    `--${border}\r\ncontent-type: application/json; charset=utf-8\r\n\r\n${JSON.stringify(description)}\r\n` +
    `--${border}\r\ncontent-type: ${contentType}\r\n\r\n`;
  try {
    await at.call({
      method: "POST",
      url: at.upload({ uploadType: "multipart", name: key, ...condition(options) }),
      headers: { "content-type": `multipart/related; boundary=${border}` },
      body: [Buffer.from(front), bytes, Buffer.from(`\r\n--${border}--\r\n`)],
      signal: options.signal,
    });
  } catch (error) {
    // The first answer may have been lost, and this one be about the object that the first request made.
    const again = error instanceof GcsRefusal && error.status === 412;
    if (!again || (await markOf(upload)) !== id) throw error;
  }
}

async function begin({ at, key, options }: GcsUpload): Promise<string> {
  const contentType = options.contentType ?? "application/octet-stream";
  const { headers } = await at.call({
    method: "POST",
    url: at.upload({ uploadType: "resumable", name: key, ...condition(options) }),
    headers: { "content-type": "application/json; charset=utf-8", "x-upload-content-type": contentType },
    body: [Buffer.from(JSON.stringify({ name: key, contentType }))],
    signal: options.signal,
  });
  const { location } = headers;
  if (location === undefined) throw new GcsRefusal(500, "the store began an upload and did not say where");
  // Whoever has the address of a session may write in it, so it does not go where others read along if we came by TLS.
  if (at.upload({}).startsWith("https:") && !location.startsWith("https:"))
    throw new GcsRefusal(400, "the store began an upload and said to go on with it over plain http");
  return location;
}

/** Sends what the store does not have yet of this part, until it has all of it. */
async function putPiece(upload: GcsUpload, session: string, part: Part, hash: Hash): Promise<void> {
  const { at, options } = upload;
  const end = part.offset + part.bytes.length;
  let from = part.offset;
  const checked = part.last ? { "x-goog-hash": `md5=${hash.digest("base64")}` } : {};
  await withRetries(async (attempt) => {
    if (attempt > 1) {
      const has = await received(upload, session);
      if (has === "all") return;
      if (has < part.offset) throw new GcsRefusal(410, "the store lost a part that it had taken");
      from = has;
    }
    // A store may take less than it was sent; every round that takes something is progress.
    while (from < end) {
      const answer = await exchange(at.agents, {
        method: "PUT",
        url: session,
        headers: { "content-range": `bytes ${from}-${end - 1}/${part.last ? end : "*"}`, ...checked },
        body: [part.bytes.subarray(from - part.offset)],
        signal: options.signal,
      });
      const has = progress(answer.status, answer.headers["range"], answer.text);
      if (has === "all") return;
      if (has <= from) throw new GcsRefusal(503, "the store took nothing of what it was sent");
      from = has;
    }
    if (part.last) throw new GcsRefusal(503, "the store has all bytes and makes no object of them");
  }, options.signal);
}

/** How many bytes it has for good. */
async function received({ at, options }: GcsUpload, session: string): Promise<number | "all"> {
  const answer = await exchange(at.agents, {
    method: "PUT",
    url: session,
    headers: { "content-range": "bytes */*" },
    signal: options.signal,
  });
  return progress(answer.status, answer.headers["range"], answer.text);
}

function progress(status: number, range: string | undefined, text: string): number | "all" {
  if (status === 200 || status === 201) return "all";
  // A session that is gone, not a bucket.
  if (status !== 308) throw new GcsRefusal(status === 404 ? 410 : status, text);
  const last = /^bytes=0-(\d+)$/.exec(range ?? "")?.[1];
  return last === undefined ? 0 : Number(last) + 1;
}

async function cancel(at: GcsConnection, session: string): Promise<void> {
  await exchange(at.agents, { method: "DELETE", url: session, signal: AbortSignal.timeout(cancelMs) })
    // What ended the upload is what the caller has to know; a session that is left is no object.
    .catch(() => undefined);
}

async function markOf({ at, key, options }: GcsUpload): Promise<string | undefined> {
  const url = at.object(key, { fields: "metadata" });
  const answer = await at.call({ method: "GET", url, signal: options.signal }).catch(() => undefined);
  if (!answer) return undefined;
  const { metadata } = JSON.parse(answer.text) as { metadata?: Record<string, string> };
  return metadata?.[mark] ?? "";
}
