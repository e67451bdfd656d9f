// Reads the files of a mounted Secret, without the white space that editors and `base64` leave at their ends.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { StoreError } from "./errors.ts";

/** Undefined when the file is missing, or has nothing in it. */
export async function readEntry(folder: string, key: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path.join(folder, key), "utf8")).trim();
    return text === "" ? undefined : text;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new StoreError("badCredentials", `The entry ${key} of the Secret cannot be read (${String(code)}).`);
  }
}

export async function needEntry(folder: string, key: string, store: string): Promise<string> {
  const text = await readEntry(folder, key);
  if (text !== undefined) return text;
  throw new StoreError(
    "badCredentials",
    `${store}: the Secret with the credentials has no entry ${key}, or it is empty. Add it to the Secret.`,
  );
}

/** The CA of the endpoint, where a Secret is named for it. */
export async function readCa(folder: string | undefined, store: string): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  const ca = await readEntry(folder, "ca.crt");
  if (ca?.includes("-----BEGIN CERTIFICATE-----") === true) return ca;
  throw new StoreError(
    "refused",
    `${store}: the Secret with the CA of the endpoint has no certificate in its entry ca.crt. Put the CA there, in PEM.`,
  );
}
