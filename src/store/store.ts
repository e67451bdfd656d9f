// The port to a place that keeps objects: a bucket, a container, a folder. One contract suite runs over every
// implementation (`testing/contract.ts`).

/** One place. Keys are relative to it; what they may contain is checked by `key.ts`. */
export interface ObjectStore {
  /** In words, without secrets, as in `s3://backups`: for sentences and logs. */
  readonly name: string;
  /**
   * Writes one object. It is visible only when it is complete; an error, a crash or an abort leaves none.
   * Reads `body` once, holds a bounded part of it in memory, and never keeps a chunk: its memory may be reused.
   */
  put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<void>;
  /** Undefined when there is none. Chunks are the receiver's. The body must be read or its iterator returned. */
  get(key: string, call?: StoreCall): Promise<StoredObject | undefined>;
  head(key: string, call?: StoreCall): Promise<ObjectInfo | undefined>;
  /** Every object whose key begins with the prefix, however many there are, in no particular order. */
  list(prefix: string, call?: StoreCall): AsyncIterable<ObjectInfo>;
  /** Whether there was one, or is not known, does not matter. Throws `locked` where the store keeps it by its policy. */
  delete(key: string, call?: StoreCall): Promise<void>;
  /**
   * Ends uploads that a process which died has left behind: those of keys with the prefix, or `exactly` of this key, and
   * `only` where that says so. Returns how many. What another process is uploading there ends, too.
   */
  abortLeftovers(prefix: string, call?: LeftoversCall): Promise<number>;
  close(): void;
}

export interface StoreCall {
  readonly signal?: AbortSignal;
}

export interface LeftoversCall extends StoreCall {
  readonly exactly?: boolean;
  readonly only?: (key: string) => Promise<boolean>;
}

export interface PutOptions extends StoreCall {
  /** At most how many bytes will come, if known: decides the size of parts. */
  readonly expectedBytes?: number;
  /** Fail with `exists` instead of replacing an object. */
  readonly mustBeNew?: boolean;
  readonly contentType?: string;
}

export interface ObjectInfo {
  readonly key: string;
  readonly bytes: number;
  /** Milliseconds since 1970, by the clock of the store. */
  readonly modified: number;
}

export interface StoredObject extends ObjectInfo {
  readonly body: AsyncIterable<Uint8Array>;
}

/** Where objects go, as the worker gets it. Secrets are not in it: they are files in mounted folders. */
export type StoreTarget =
  | {
      readonly type: "S3";
      readonly bucket: string;
      /** Absent: AWS. */
      readonly endpoint?: string;
      readonly region?: string;
      readonly forcePathStyle?: boolean;
      /** A mounted Secret with `credentials` and `config` as AWS writes them. Absent or empty: ambient identity. */
      readonly secretFolder?: string;
      /** A mounted Secret with `ca.crt`, for an endpoint with a private CA. */
      readonly caFolder?: string;
    }
  | {
      readonly type: "ABS";
      readonly container: string;
      /** Absent: Azure's own, by the cloud that the Secret names. */
      readonly endpoint?: string;
      /** Needed without `secretFolder`. */
      readonly account?: string;
      /** `storage-account`, `storage-key` and optionally `cloud`. Absent: ambient identity. */
      readonly secretFolder?: string;
      readonly caFolder?: string;
    }
  | {
      readonly type: "GCS";
      readonly bucket: string;
      readonly endpoint?: string;
      /** `access-token` or `credentials.json`. Absent: ambient identity. */
      readonly secretFolder?: string;
      readonly caFolder?: string;
    }
  | {
      readonly type: "OSS";
      readonly bucket: string;
      /** As in `https://oss-cn-hangzhou.aliyuncs.com`. */
      readonly endpoint: string;
      /** `accessKeyID` and `accessKeySecret`. */
      readonly secretFolder: string;
      readonly caFolder?: string;
    }
  | { readonly type: "PVC" /** Where the claim is mounted. */; readonly folder: string };
