// The closing table: what was done, how long it took, and what became of the writes.
import { seconds } from "../lab/progress.ts";
import type { Comparison, Side } from "./read-back.ts";
import { aligned } from "./table.ts";

export interface Done {
  /** As in "created three members". */
  readonly what: string;
  readonly tookMs: number;
}

interface Writes extends Comparison {
  /** Not acknowledged: etcd may have them or not. */
  readonly unknown: number;
}

export function summaryLines(done: readonly Done[], { kept, later, unknown }: Writes): string[] {
  const writes =
    later.acknowledged === 0
      ? [counts("acknowledged", kept)]
      : [counts("acknowledged, in the backup", kept), counts("acknowledged, later than the backup", later)];
  // A client cannot know whether etcd has these.
  const doubtful = unknown === 0 ? [] : [["not acknowledged", String(unknown), "-"]];
  return [
    ...aligned([["DONE", "TOOK"], ...done.map(({ what, tookMs }) => [what, seconds(tookMs)])]),
    "",
    ...aligned([["WRITES", "COUNT", "READ BACK"], ...writes, ...doubtful]),
  ];
}

const counts = (what: string, { acknowledged, found }: Side): string[] => [what, String(acknowledged), String(found)];
