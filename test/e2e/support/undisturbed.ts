// Work that is about who leads, on a machine that may be so busy that etcd elects another leader by itself: then it is done again.
import assert from "node:assert/strict";
import type { TestCluster } from "./cluster.ts";
import type { HealthyCluster } from "./healthy.ts";

interface Undisturbed<T> {
  readonly before: HealthyCluster;
  readonly after: HealthyCluster;
  readonly result: T;
}

const mostTries = 5;

/** Each election raises it by one, and so does each move of the leader. */
export const termOf = async ({ leader }: HealthyCluster): Promise<number> => (await leader.etcd.status()).raftTerm;

/** `moves`: how often the work itself has another member lead. */
export async function undisturbed<T>(
  cluster: TestCluster,
  moves: number,
  work: () => Promise<T>,
): Promise<Undisturbed<T>> {
  for (let tries = 1; ; tries += 1) {
    const before = await cluster.untilHealthy();
    const term = await termOf(before);
    const done = await work().then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    const after = await cluster.untilHealthy();
    const elections = (await termOf(after)) - term - moves;
    if ("result" in done && elections === 0) return { before, after, ...done };
    if ("error" in done && elections <= 0) throw done.error;
    assert.ok(tries < mostTries, `etcd elected leaders again and again: ${elections} more than ${moves}`);
  }
}
