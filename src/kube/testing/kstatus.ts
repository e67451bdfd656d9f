// How programs that wait judge an object, by the rules of kstatus: Flux, Helm 4 and everything else that is built on it. For
// unit tests; test/install/health.test.ts compares it with the real one.
import type { Condition } from "../objects/conditions.ts";

interface Judged {
  readonly metadata?: { readonly generation?: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly Pick<Condition, "type" | "status">[];
  };
}

export type Kstatus = "Terminating" | "InProgress" | "Failed" | "Current";

export function kstatusOf({ metadata, status }: Judged): Kstatus {
  if (metadata?.deletionTimestamp !== undefined) return "Terminating";
  const [wanted, seen] = [metadata?.generation, status?.observedGeneration];
  if (wanted !== undefined && seen !== undefined && seen !== wanted) return "InProgress";
  const conditions = status?.conditions ?? [];
  for (const one of conditions) {
    if (one.type === "Reconciling" && one.status === "True") return "InProgress";
    if (one.type === "Stalled" && one.status === "True") return "Failed";
  }
  const ready = conditions.find(({ type }) => type === "Ready");
  return ready === undefined || ready.status === "True" ? "Current" : "InProgress";
}
