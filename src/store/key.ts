// The keys of objects, refused in a sentence where no store could keep them.
import { StoreError } from "./errors.ts";

/** The longest key of S3, GCS and Azure, in bytes of UTF-8. */
const longestKey = 1024;

export function checkKey(key: string): string {
  if (key === "") throw refused(key, "is empty; write the name of a file");
  if (hasControl(key)) throw refused(key, "has a control character; remove it");
  if (Buffer.byteLength(key) > longestKey)
    throw refused(key, `makes a key of ${Buffer.byteLength(key)} bytes; write one of at most ${longestKey}`);
  const segments = key.split("/");
  if (segments[0] === "") throw refused(key, "begins with a slash; remove it");
  if (segments.at(-1) === "") throw refused(key, "ends with a slash; end it with a name");
  if (segments.includes("")) throw refused(key, "has two slashes in a row; write one");
  const dots = segments.find((segment) => segment === "." || segment === "..");
  if (dots !== undefined) throw refused(key, `has "${dots}" between slashes; write the path without it`);
  return key;
}

// Matches control characters on purpose.
// oxlint-disable-next-line no-control-regex
const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text);

const refused = (path: string, what: string): StoreError =>
  new StoreError("refused", `The path ${JSON.stringify(shown(path))} ${what}.`);

const shown = (path: string): string => (path.length <= 200 ? path : `${path.slice(0, 200)}…`);
