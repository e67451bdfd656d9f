// Every command, in the order of the help. To add one, write its row in a file of commands/ and list it here.
import type { Command } from "./command.ts";
import { membersCommand } from "./commands/members.ts";
import { statusCommand } from "./commands/status.ts";
import { versionCommand } from "./commands/version.ts";

export const commands: readonly Command[] = [statusCommand, membersCommand, versionCommand];
