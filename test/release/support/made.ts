// A release of this tree as it is, made as people make it, and signed with a key of the machine.
import { mkdir } from "node:fs/promises";
import * as path from "node:path";
import { run } from "../../../lab/machine/command.ts";
import { root } from "../../suites.ts";

export const version = "0.2.0";

/** Where tests leave releases, each below a name of its own. */
export const releaseFolder = (name: string): string => path.join(root, "dist/test-release", name);

export async function makeRelease(
  folder: string,
  image: string,
  key: Readonly<Record<string, string>> = { COSIGN_KEY: "" },
): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const options = [`--version=${version}`, `--image=${image}`, `--folder=${folder}`, "--uncommitted"];
  await run(process.execPath, ["release/main.ts", ...options], {
    cwd: root,
    env: {
      ...key,
      // As in a tree that is no git repository.
      REVISION: process.env["REVISION"] ?? "0000000000000000000000000000000000000000",
      SOURCE_DATE_EPOCH: process.env["SOURCE_DATE_EPOCH"] ?? "1760000000",
    },
  });
}
