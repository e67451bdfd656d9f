// Nothing that disturbs a cluster is done before somebody said yes: at the terminal, or by a flag.
import type { Call, FlagRow } from "./command.ts";
import { Refusal } from "./place/refusal.ts";

export const yesFlag: FlagRow = { name: "yes", short: "y", what: "Do not ask." };

/** Returns when it was agreed to. */
export async function confirm({ flags, screen }: Call, whatHappens: string): Promise<void> {
  if (flags.has("yes")) return;
  if (!screen.canAsk) throw new Refusal(`${whatHappens} Add --yes: there is nobody to ask.`);
  if (!(await screen.ask(`${whatHappens} Go on?`))) throw new Refusal("Nothing was done.");
}
