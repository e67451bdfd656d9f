// Every command, in the order of the help. To add one, write its row in a file of commands/ and list it here.
import type { Command } from "./command.ts";
import { backupCommand } from "./commands/backup.ts";
import { completing, completionCommand } from "./commands/completion.ts";
import { ctlCommand } from "./commands/ctl.ts";
import { dashboardCommand } from "./commands/dashboard.ts";
import { defragCommand } from "./commands/defrag.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { logsCommand } from "./commands/logs.ts";
import { membersCommand } from "./commands/members.ts";
import { moveLeaderCommand } from "./commands/move-leader.ts";
import { pauseCommand, resumeCommand } from "./commands/pause.ts";
import { replaceMemberCommand } from "./commands/replace-member.ts";
import { reportCommand } from "./commands/report.ts";
import { restoreCommand } from "./commands/restore.ts";
import { statusCommand } from "./commands/status.ts";
import { upgradeCommand } from "./commands/upgrade.ts";
import { versionCommand } from "./commands/version.ts";
import { watchCommand } from "./commands/watch.ts";

export const shownCommands: readonly Command[] = [
  statusCommand,
  watchCommand,
  dashboardCommand,
  membersCommand,
  doctorCommand,
  logsCommand,
  ctlCommand,
  backupCommand,
  restoreCommand,
  upgradeCommand,
  moveLeaderCommand,
  defragCommand,
  replaceMemberCommand,
  pauseCommand,
  resumeCommand,
  reportCommand,
  completionCommand,
  versionCommand,
];

export const commands: readonly Command[] = [...shownCommands, completing(shownCommands)];
