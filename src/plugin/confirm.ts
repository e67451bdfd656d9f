// Nothing that disturbs a cluster is done before somebody said yes: at the terminal, or by a flag. The question says where it
// would be done: a person has several terminals open, and clusters of the same name in several places.
import type { Call, FlagRow } from "./command.ts";
import { Refusal } from "./place/refusal.ts";

export const yesFlag: FlagRow = { name: "yes", short: "y", what: "Do not ask for confirmation." };

/** Returns when it was agreed to. */
export async function confirm({ flags, screen, reach }: Call, whatHappens: string): Promise<void> {
  if (flags.has("yes")) return;
  const { namespace, context } = await reach();
  const where = `In the namespace ${namespace}${context === undefined ? "" : ` of the context ${context}`}: ${whatHappens}`;
  if (!screen.canAsk) throw new Refusal(`${where} Add --yes: no terminal is there to ask.`);
  if (!(await screen.ask(`${where} Continue?`))) throw new Refusal("Nothing was done.");
}
