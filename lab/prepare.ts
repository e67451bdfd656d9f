// Installs or builds what a lab needs and the machine lacks: packages, programs, images.
import { ensureBinaries } from "./build/binaries.ts";
import { ensurePackages } from "./build/packages.ts";
import { checkMachine } from "./build/prerequisites.ts";
import { type LabConfig, UsageError } from "./config.ts";
import { ensureImageTemplate } from "./nodes/image-template.ts";
import { ensureImages } from "./images/index.ts";

/** Returns the folder of unpacked images that every node starts with. */
export async function prepareMachine(lab: LabConfig, signal: AbortSignal): Promise<string> {
  const missing = await checkMachine();
  if (missing.length > 0) throw new UsageError(missing.join("\n"));
  await ensurePackages();
  signal.throwIfAborted();
  await ensureBinaries(lab);
  signal.throwIfAborted();
  const images = await ensureImages();
  signal.throwIfAborted();
  return ensureImageTemplate(images);
}
