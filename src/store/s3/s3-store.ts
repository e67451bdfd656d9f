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
import { abortedBy, BaseStore, infoOf, isMeant, undefinedIf } from "../base-store.ts";
import { bodyOf } from "../body.ts";
import type { LeftoversCall, ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../store.ts";
import { connectS3, type S3Connection, type S3Target } from "./s3-client.ts";
import { isMissing, s3Refusals } from "./s3-errors.ts";
import { uploadToS3 } from "./s3-upload.ts";

export const openS3 = async (target: S3Target, patient?: Patience): Promise<ObjectStore> =>
  new S3Store(await connectS3(target, patient));

class S3Store extends BaseStore implements ObjectStore {
  readonly #at: S3Connection;
  readonly #running = new Set<string>();

  constructor(at: S3Connection) {
    super(at.name, s3Refusals);
    this.#at = at;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    const attempt = this.attempt("write", key, options);
    const upload = { at: this.#at, key, options, attempt, running: this.#running };
    await attempt.run(() => uploadToS3(upload, body));
  }

  async get(key: string, call: StoreCall = {}): Promise<StoredObject | undefined> {
    const attempt = this.attempt("read", key, call);
    return attempt.run(async () => {
      const answer = await this.#at.client
        .send(new GetObjectCommand(this.#object(key)), abortedBy(call))
        .catch(undefinedIfMissing);
      if (!answer) return undefined;
      const stream = answer.Body instanceof Readable ? answer.Body : Readable.from([]);
      const body = bodyOf(stream, (error) => attempt.explained(error), call.signal);
      return { ...infoOf(key, answer.ContentLength, answer.LastModified), body };
    });
  }

  async head(key: string, call: StoreCall = {}): Promise<ObjectInfo | undefined> {
    const attempt = this.attempt("look up", key, call);
    return attempt.run(async () => {
      const answer = await this.#at.client
        .send(new HeadObjectCommand(this.#object(key)), abortedBy(call))
        .catch(undefinedIfMissing);
      return answer && infoOf(key, answer.ContentLength, answer.LastModified);
    });
  }

  async *list(prefix: string, call: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    const attempt = this.attempt("list", prefix, call);
    let from: string | undefined;
    do {
      const page: ListObjectsV2CommandOutput = await attempt.run(() =>
        this.#at.client.send(
          new ListObjectsV2Command({ Bucket: this.#at.bucket, Prefix: prefix, ContinuationToken: from }),
          abortedBy(call),
        ),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? [])
        if (Key !== undefined) yield infoOf(Key, Size, LastModified);
      from = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (from !== undefined);
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    const attempt = this.attempt("delete", key, call);
    await attempt.run(() =>
      this.#at.client.send(new DeleteObjectCommand(this.#object(key)), abortedBy(call)).catch(undefinedIfMissing),
    );
  }

  async abortLeftovers(prefix: string, call: LeftoversCall = {}): Promise<number> {
    const attempt = this.attempt("clean up", prefix, call);
    return attempt.run(async () => {
      const left: { Key: string; UploadId: string }[] = [];
      let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {};
      while (from) {
        const page: ListMultipartUploadsCommandOutput = await this.#at.client.send(
          new ListMultipartUploadsCommand({ Bucket: this.#at.bucket, Prefix: prefix, ...from }),
          abortedBy(call),
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
          .send(new AbortMultipartUploadCommand({ Bucket: this.#at.bucket, ...upload }), abortedBy(call))
          .catch(undefinedIfMissing);
        ended += 1;
      }
      return ended;
    });
  }

  close(): void {
    this.#at.close();
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#at.bucket, Key: key };
  }
}

const undefinedIfMissing = undefinedIf(isMissing);
