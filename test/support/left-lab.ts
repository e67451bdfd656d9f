// Labs that a test run left which was killed. One of that name would refuse to start where it was started from another folder,
// or be taken for that of the next run, with the operators and faults in it.
import { down } from "../../lab/down.ts";
import { type LabConfig, UsageError } from "../../lab/config.ts";
import { startTimeOf } from "../../lab/machine/daemon.ts";
import { readRecord } from "../../lab/machine/registry.ts";

/** Notes that the lab is of no use to anybody once this process is gone. */
export const owned = (lab: LabConfig): LabConfig => ({
  ...lab,
  owner: { pid: process.pid, startTime: startTimeOf(process.pid) ?? "" },
});

/** The lab of a run that is under way is left alone, and so is one that was started elsewhere and belongs to no run. */
export async function removeLeftLab(lab: LabConfig): Promise<void> {
  const left = readRecord(lab.name);
  if (left === undefined) return;
  const { owner, state } = left;
  if (owner !== undefined && owner.pid !== process.pid && startTimeOf(owner.pid) === owner.startTime)
    throw new UsageError(`The lab "${lab.name}" is that of a test run that is under way, process ${owner.pid}.`);
  await down(owner !== undefined || state === lab.state ? left : lab);
}
