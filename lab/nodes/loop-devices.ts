// Finds and detaches the loop devices of a lab: those with a backing file in its folder.
import * as fs from "node:fs";
import * as path from "node:path";
import { tryRun } from "../machine/command.ts";
import type { LabConfig } from "../config.ts";

export function labLoopDevices(lab: LabConfig): string[] {
  const nodes = `${lab.state}/`;
  const others = `${path.join(lab.state, "labs")}/`;
  return fs
    .readdirSync("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .filter((name) => {
      try {
        // The kernel shows a deleted backing file with the suffix " (deleted)".
        const file = fs.readFileSync(`/sys/block/${name}/loop/backing_file`, "utf8");
        return file.startsWith(nodes) && !file.startsWith(others);
      } catch {
        return false; // not in use
      }
    })
    .map((name) => `/dev/${name}`);
}

export async function detachLoopDevices(lab: LabConfig): Promise<void> {
  for (const device of labLoopDevices(lab)) await tryRun("losetup", ["--detach", device]);
}
