// Whoever holds its lease has filled its caches: that is how a benchmark sees that a program is at rest.
import { waitFor } from "../lab/progress.ts";
import { Lease } from "../src/kube/objects/kinds.ts";
import type { Key } from "../src/kube/objects/objects.ts";
import type { Ground } from "./ground.ts";

export async function leaseIsHeld({ api, signal }: Ground, key: Key): Promise<void> {
  await waitFor(
    `the lease ${key.name} to be held`,
    async () => {
      if (signal.aborted) return true;
      const lease = await api.get(Lease, key, { signal });
      return lease.spec?.holderIdentity === key.name ? true : undefined;
    },
    { timeoutMs: 120_000 },
  );
  signal.throwIfAborted();
}
