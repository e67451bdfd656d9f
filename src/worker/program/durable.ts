// Makes what was written survive a loss of power: files, and the folders that name them.
import { open, readdir } from "node:fs/promises";
import * as path from "node:path";

export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(at);
    else await sync(at);
  }
  await sync(folder);
}

export async function sync(fileOrFolder: string): Promise<void> {
  const handle = await open(fileOrFolder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
