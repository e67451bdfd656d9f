// A store in a bucket of S3, or of what speaks S3: MinIO, Ceph, Alibaba's OSS and others.
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
} from "@aws-sdk/client-s3";
import type { Patience } from "../agents.ts";
import { bodyOf } from "../body.ts";
import { checkKey } from "../path.ts";
import type { Attempt, Verb } from "../sentences.ts";
import type { LeftoversCall, ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../store.ts";
import { connectS3, type S3Connection, type S3Target } from "./s3-client.ts";
import { explainS3, s3Problem } from "./s3-errors.ts";
import { uploadToS3 } from "./s3-upload.ts";

export const openS3 = async (target: S3Target, patient?: Patience): Promise<ObjectStore> =>
  new S3Store(await connectS3(target, patient));

class S3Store implements ObjectStore {
  readonly name: string;
  readonly #at: S3Connection;
  readonly #running = new Set<string>();

  constructor(at: S3Connection) {
    this.#at = at;
    this.name = at.name;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    const attempt = this.#attempt("write", checkKey(key));
    options.signal?.throwIfAborted();
    const upload = { at: this.#at, key, options, attempt, running: this.#running };
    await this.#trying(attempt, options, () => uploadToS3(upload, body));
  }

  async get(key: string, call: StoreCall = {}): Promise<StoredObject | undefined> {
    const attempt = this.#attempt("read", checkKey(key));
    return this.#trying(attempt, call, async () => {
      const answer = await this.#at.client
        .send(new GetObjectCommand(this.#object(key)), sending(call))
        .catch(undefinedIfMissing);
      if (!answer) return undefined;
      const stream = answer.Body instanceof Readable ? answer.Body : Readable.from([]);
      const body = bodyOf(stream, (error) => explainS3(attempt, error), call.signal);
      return { ...infoOf(key, answer.ContentLength, answer.LastModified), body };
    });
  }

  async head(key: string, call: StoreCall = {}): Promise<ObjectInfo | undefined> {
    const attempt = this.#attempt("look up", checkKey(key));
    return this.#trying(attempt, call, async () => {
      const answer = await this.#at.client
        .send(new HeadObjectCommand(this.#object(key)), sending(call))
        .catch(undefinedIfMissing);
      return answer && infoOf(key, answer.ContentLength, answer.LastModified);
    });
  }

  async *list(prefix: string, call: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    const attempt = this.#attempt("list", prefix);
    let from: string | undefined;
    do {
      const page: ListObjectsV2CommandOutput = await this.#trying(attempt, call, () =>
        this.#at.client.send(
          new ListObjectsV2Command({ Bucket: this.#at.bucket, Prefix: prefix, ContinuationToken: from }),
          sending(call),
        ),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? [])
        if (Key !== undefined) yield infoOf(Key, Size, LastModified);
      from = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (from !== undefined);
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    const attempt = this.#attempt("delete", checkKey(key));
    await this.#trying(attempt, call, () =>
      this.#at.client.send(new DeleteObjectCommand(this.#object(key)), sending(call)).catch(undefinedIfMissing),
    );
  }

  async abortLeftovers(prefix: string, call: LeftoversCall = {}): Promise<number> {
    const attempt = this.#attempt("clean up", prefix);
    return this.#trying(attempt, call, async () => {
      const left: { Key: string; UploadId: string }[] = [];
      let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
      while (from) {
        const page: ListMultipartUploadsCommandOutput = await this.#at.client.send(
          new ListMultipartUploadsCommand({ Bucket: this.#at.bucket, Prefix: prefix, ...from }),
          sending(call),
        );
        for (const { Key, UploadId } of page.Uploads ?? [])
          if (Key !== undefined && isMeant(Key, prefix, call) && UploadId !== undefined && !this.#running.has(UploadId))
            left.push({ Key, UploadId });
        from =
          page.IsTruncated === true
            ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
            : undefined;
      }
      let ended = 0;
      for (const upload of left) {
        if ((await call.only?.(upload.Key)) === false) continue;
        await this.#at.client
          .send(new AbortMultipartUploadCommand({ Bucket: this.#at.bucket, ...upload }), sending(call))
          .catch(undefinedIfMissing);
        ended += 1;
      }
      return ended;
    });
  }

  close(): void {
    this.#at.close();
  }

  #attempt(to: Verb, key: string): Attempt {
    return { store: this.name, to, key };
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#at.bucket, Key: key };
  }

  async #trying<T>(attempt: Attempt, { signal }: StoreCall, work: () => Promise<T>): Promise<T> {
    try {
      signal?.throwIfAborted();
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      throw explainS3(attempt, error);
    }
  }
}

const sending = ({ signal }: StoreCall): { abortSignal?: AbortSignal } => (signal ? { abortSignal: signal } : {});

const infoOf = (key: string, bytes: number | undefined, modified: Date | undefined): ObjectInfo => ({
  key,
  bytes: bytes ?? 0,
  modified: modified?.getTime() ?? 0,
});

/** Of the object or of the upload; a missing bucket is another matter. */
function undefinedIfMissing(error: unknown): undefined {
  if (["NoSuchKey", "NotFound", "NoSuchUpload"].includes(s3Problem(error).name)) return undefined;
  throw error;
}

const isMeant = (key: string, prefix: string, { exactly }: LeftoversCall): boolean =>
  exactly === true ? key === prefix : key.startsWith(prefix);
