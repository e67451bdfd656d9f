// How far a member has applied the raft log, by its own metrics. A member that got its data as a snapshot says nothing
// on its client port for some seconds; its metrics listener answers from the start of the process.
import { ports } from "../../src/cluster/objects/labels.ts";

/** Despite its name a gauge that etcd sets to the applied index (etcdserver/server.go, applyAll). */
const gauge = "etcd_server_proposals_applied_total";

/** The index, or why it is not known. */
export async function appliedIndexAt(address: string, withinMs: number): Promise<number | string> {
  try {
    const url = `http://${address}:${ports.metrics}/metrics`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(withinMs) });
    return appliedIndexIn(await answer.text()) ?? `${url} has no ${gauge}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function appliedIndexIn(metrics: string): number | undefined {
  const line = metrics.split("\n").find((text) => text.startsWith(`${gauge} `));
  return line === undefined ? undefined : Number(line.slice(gauge.length));
}
