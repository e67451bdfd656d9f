// The `path` of the API, "bucket/key…": split at its first slash, and refused in a sentence where no store could keep it.
import { StoreError } from "./errors.ts";

export interface StorePath {
  readonly bucket: string;
  readonly key: string;
}

/** The longest key of S3, GCS and Azure, in bytes of UTF-8. */
const longestKey = 1024;

/** For stores with buckets. */
export function splitPath(path: string): StorePath {
  const slash = path.indexOf("/");
  if (slash === 0) throw refused(path, "begins with a slash; write bucket/key");
  if (slash === -1) throw refused(path, "has no slash; write the bucket, a slash and the key: bucket/key");
  const bucket = path.slice(0, slash);
  if (bucket === "." || bucket === "..") throw refused(path, `has "${bucket}" for a bucket; write bucket/key`);
  if (hasControl(bucket)) throw refused(path, "has a control character in the name of the bucket; remove it");
  const key = path.slice(slash + 1);
  if (key === "") throw refused(path, "has nothing after the bucket; write bucket/key");
  return { bucket, key: checkKey(key, path) };
}

/** For a volume, where the whole path is the key; and for keys that are made of one. */
export function checkKey(key: string, path: string = key): string {
  if (key === "") throw refused(path, "is empty; write the name of a file");
  if (hasControl(key)) throw refused(path, "has a control character; remove it");
  if (Buffer.byteLength(key) > longestKey)
    throw refused(path, `makes a key of ${Buffer.byteLength(key)} bytes; write one of at most ${longestKey}`);
  const segments = key.split("/");
  if (segments[0] === "") throw refused(path, "begins with a slash; remove it");
  if (segments.at(-1) === "") throw refused(path, "ends with a slash; end it with a name");
  if (segments.includes("")) throw refused(path, "has two slashes in a row; write one");
  const dots = segments.find((segment) => segment === "." || segment === "..");
  if (dots !== undefined) throw refused(path, `has "${dots}" between slashes; write the path without it`);
  return key;
}

// Control characters are what is looked for.
// oxlint-disable-next-line no-control-regex
const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text);

const refused = (path: string, what: string): StoreError =>
  new StoreError("refused", `The path ${JSON.stringify(shown(path))} ${what}.`);

const shown = (path: string): string => (path.length <= 200 ? path : `${path.slice(0, 200)}…`);
