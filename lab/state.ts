// The folder of a lab's files. The default lab shares it with the programs and with the folders of other labs, so it is
// emptied entry by entry.
import * as fs from "node:fs";
import * as path from "node:path";
import type { LabConfig } from "./config.ts";

const isShared = (name: string): boolean => name === "labs" || name === "bin" || name.startsWith("bin-");

/** Everything that belongs to this lab alone. */
export function stateFolders(lab: LabConfig): string[] {
  if (!fs.existsSync(lab.state)) return [];
  return fs
    .readdirSync(lab.state)
    .filter((name) => !isShared(name))
    .map((name) => path.join(lab.state, name));
}

/** The path may come from a damaged record: only a folder that looks like a lab's is ever emptied. */
const isLabFolder = (lab: LabConfig): boolean =>
  lab.state.endsWith("/.lab") || lab.state.endsWith(`/.lab/labs/${lab.name}`);

export interface KeepOptions {
  /** Kept after a failed start. */
  readonly logs: boolean;
}

export function removeState(lab: LabConfig, keep: KeepOptions): void {
  if (!isLabFolder(lab)) throw new Error(`${lab.state} is not the folder of a lab, so it is not removed`);
  for (const entry of stateFolders(lab)) {
    if (keep.logs && path.basename(entry) === "logs") continue;
    fs.rmSync(entry, { recursive: true, force: true });
  }
  try {
    fs.rmdirSync(lab.state);
  } catch {
    // not empty: it has programs, other labs or logs
  }
}
