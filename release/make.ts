// Makes a release from the tree that this file is in, which has the version of the release: the image, then every part, then
// the signatures. `main.ts` starts it.
import { mkdir } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { red, say, step } from "../lab/progress.ts";
import { version } from "../src/version.ts";
import { makeImage } from "./image/image.ts";
import type { Order } from "./main.ts";
import type { Release } from "./part.ts";
import { parts } from "./parts.ts";
import { finish } from "./signature/finish.ts";

async function make({ release: ordered, repository }: Order): Promise<void> {
  if (ordered.version !== version) throw new Error(`The tree is of version ${version}, not ${ordered.version}.`);
  await mkdir(ordered.folder, { recursive: true });
  const release: Release = { ...ordered, image: await makeImage(ordered, repository) };
  for (const part of parts) await step(part.name, () => part.make(release));
  await step("signatures", () => finish(release));
}

try {
  await make(JSON.parse(await text(process.stdin)) as Order);
} catch (error) {
  say(red(error instanceof Error ? error.message : String(error)));
  process.exitCode = 1;
}
