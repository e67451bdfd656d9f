// One upload to S3: a small body by one request, a larger one in parts that become an object only when all are there.
import { createHash, randomUUID } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { StoreAttempt } from "../attempt.ts";
import { abortedBy, mark } from "../base-store.ts";
import { type Part, sendParts } from "../parts.ts";
import type { PutOptions } from "../store.ts";
import { large } from "./payload-hash.ts";
import type { S3Connection } from "./s3-client.ts";
import { s3Problem } from "./s3-errors.ts";

/** In which an upload that failed is given up; one that is left is ended by the next run. */
const abortMs = 10_000;

interface S3Upload {
  readonly at: S3Connection;
  readonly key: string;
  readonly options: PutOptions;
  readonly attempt: StoreAttempt;
  /** Ids of uploads that this process is sending. */
  readonly running: Set<string>;
}

export async function uploadToS3(upload: S3Upload, body: AsyncIterable<Uint8Array>): Promise<void> {
  const { at, key, options, running, attempt } = upload;
  const id = randomUUID();
  const call = abortedBy(options);
  const object = { Bucket: at.bucket, Key: key };
  const described = {
    ...object,
    Metadata: { [mark]: id },
    ...(options.contentType !== undefined && { ContentType: options.contentType }),
  };
  // Before gigabytes are sent in vain. What the store says at the end decides.
  if (options.mustBeNew === true && (await isThere(upload))) throw attempt.failure("exists");

  const finishing = (finish: (condition: { IfNoneMatch?: string }) => Promise<unknown>): Promise<void> =>
    conditionally(upload, id, finish);

  let uploadId: string | undefined;
  let complete = false;
  const parts: CompletedPart[] = [];
  const sendPart = async ({ number, bytes, last }: Part): Promise<void> => {
    if (last && number === 1)
      return finishing((condition) =>
        checked(at, bytes, (sent) =>
          at.client.send(new PutObjectCommand({ ...described, ...sent, ...condition }), call),
        ),
      );
    if (uploadId === undefined) {
      // The SDK adds checksums to parts, and leaves it to its caller to announce them.
      const announced = at.checks === "sdk" ? ({ ChecksumAlgorithm: "CRC32" } as const) : {};
      const begun = await at.client.send(new CreateMultipartUploadCommand({ ...described, ...announced }), call);
      uploadId = begun.UploadId ?? "";
      running.add(uploadId);
    }
    const part = { ...object, UploadId: uploadId, PartNumber: number };
    const answer = await checked(at, bytes, (sent) =>
      at.client.send(new UploadPartCommand({ ...part, ...sent }), call),
    );
    parts.push({
      PartNumber: number,
      ETag: answer.ETag,
      ...(answer.ChecksumCRC32 !== undefined && { ChecksumCRC32: answer.ChecksumCRC32 }),
    });
  };

  try {
    await sendParts(body, sendPart, options);
    if (uploadId !== undefined)
      await finishing((condition) =>
        at.client.send(
          new CompleteMultipartUploadCommand({
            ...object,
            UploadId: uploadId,
            MultipartUpload: { Parts: parts },
            ...condition,
          }),
          call,
        ),
      );
    complete = true;
  } finally {
    if (uploadId !== undefined) {
      if (!complete) await giveUp(at, key, uploadId);
      running.delete(uploadId);
    }
  }
}

interface Sent {
  readonly Body: Buffer;
  readonly ContentMD5?: string;
}

/** Sends a body so that the store can check it. Some demand more for that than others, and say so. */
async function checked<T>(at: S3Connection, bytes: Buffer, send: (sent: Sent) => Promise<T>): Promise<T> {
  try {
    return await send(sentAs(at, bytes));
  } catch (error) {
    if (!demandsMore(at, bytes, error)) throw error;
    return checked(at, bytes, send);
  }
}

const sentAs = (at: S3Connection, bytes: Buffer): Sent => ({
  Body: bytes,
  ...(at.checks === "md5" && { ContentMD5: createHash("md5").update(bytes).digest("base64") }),
});

/** Whether there is something that was not sent yet, and may be what is missed. From now on it is sent. */
function demandsMore(at: S3Connection, bytes: Buffer, error: unknown): boolean {
  const { status = 0, name, message } = s3Problem(error);
  // Where objects are locked.
  if (at.checks === "signature" && status === 400 && /content-?md5/i.test(`${name} ${message}`)) {
    at.checks = "md5";
    return true;
  }
  // A policy of the bucket may refuse unsigned bodies, with the same words as any other request.
  if (at.bodies === "unsigned" && bytes.length >= large && [400, 403, 501].includes(status)) {
    at.bodies = "signed";
    return true;
  }
  return false;
}

/** The request that makes the object visible: with the condition, where there is one and the store knows it. */
async function conditionally(
  upload: S3Upload,
  id: string,
  finish: (condition: { IfNoneMatch?: string }) => Promise<unknown>,
): Promise<void> {
  const { mustBeNew = false } = upload.options;
  try {
    await finish(mustBeNew ? { IfNoneMatch: "*" } : {});
  } catch (error) {
    const { name, status } = s3Problem(error);
    const unknown = mustBeNew && (name === "NotImplemented" || status === 501);
    if (unknown) {
      if (await isThere(upload)) throw upload.attempt.failure("exists");
      await finish({});
      return;
    }
    // The first answer may have been lost, and this one be about the object that the first request made.
    const again = ["NoSuchUpload", "PreconditionFailed", "ConditionalRequestConflict"].includes(name) || status === 412;
    if (!again || (await markOf(upload)) !== id) throw error;
  }
}

async function markOf({ at, key, options }: S3Upload): Promise<string | undefined> {
  const head = await at.client
    .send(new HeadObjectCommand({ Bucket: at.bucket, Key: key }), abortedBy(options))
    .catch(() => undefined);
  return head && (head.Metadata?.[mark] ?? "");
}

const isThere = async (upload: S3Upload): Promise<boolean> => (await markOf(upload)) !== undefined;

/** Not with the caller's signal, which may be what ended it. */
async function giveUp(at: S3Connection, key: string, uploadId: string): Promise<void> {
  await at.client
    .send(new AbortMultipartUploadCommand({ Bucket: at.bucket, Key: key, UploadId: uploadId }), {
      abortSignal: AbortSignal.timeout(abortMs),
    })
    // What ended the upload is what the caller has to know; parts that are left are never listed as an object.
    .catch(() => undefined);
}
