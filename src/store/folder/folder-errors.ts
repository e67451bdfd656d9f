// What the file system refuses, in the codes of stores.
import type { Refusals } from "../attempt.ts";
import type { StoreErrorCode } from "../errors.ts";
import type { Finding, Verb, Wording } from "../sentences.ts";

const writable =
  "the pod's user permission to write to the folder, by securityContext.fsGroup or the volume's own settings";
const readable =
  "the pod's user permission to read the folder, by securityContext.fsGroup or the volume's own settings";

const wording: Wording = {
  place: "folder",
  permissions: {
    write: writable,
    delete: writable,
    "clean up": writable,
    read: readable,
    "look up": readable,
    list: readable,
  },
};

const codes: Readonly<Record<string, StoreErrorCode>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EACCES: "forbidden",
  EROFS: "forbidden",
  EEXIST: "exists",
  EIO: "unavailable",
  ESTALE: "unavailable",
  ENOTCONN: "unavailable",
  ETIMEDOUT: "unavailable",
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");

export const folderRefusals: Refusals = {
  wording,
  finding(error, to) {
    const code = codeOf(error);
    if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return undefined;
    const madeFolder = "syscall" in error && error.syscall === "mkdir";
    // A file is where a folder is needed.
    return refusal(madeFolder && code === "EEXIST" ? "ENOTDIR" : code, to);
  },
};

function refusal(code: string, to: Verb): Finding {
  const known = codes[code];
  if (known) return { code: known, said: code };
  // A file that the administrator made immutable.
  if (code === "EPERM") return { code: to === "delete" ? "locked" : "forbidden", said: code };
  if (code === "EISDIR" || code === "ENOTDIR" || code === "ENOENT")
    return {
      code: "refused",
      what: "a folder is where the key wants a file, or the other way round",
      advice: "Choose another path",
      said: code,
    };
  if (code === "ENAMETOOLONG")
    return {
      code: "refused",
      what: "a name in the key is longer than the file system takes",
      advice: "Choose a shorter path",
      said: code,
    };
  return { code: "refused", what: "the file system refuses it", advice: "Check the volume", said: code };
}
