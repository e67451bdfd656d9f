// Ends what uploads of this EtcdBackup have left behind, when their worker died: nobody sees the parts, and stores charge
// for them.
import { StoreError } from "../../../store/errors.ts";
import type { ObjectStore } from "../../../store/store.ts";
import type { KeyPlan, Owner } from "../../job.ts";
import type { JobContext } from "../../program/job-context.ts";
import { getDescription, isClaim, isSameOwner } from "./metadata.ts";
import { inSeries, stagedKey } from "./object-key.ts";

/**
 * Only those whose claim says that they are this EtcdBackup's: what begins alike may be an upload of somebody else that is
 * under way, as with `prod` and `prod_v2`. A store that does not allow it keeps nobody from a backup.
 */
export async function endLeftovers(
  { t, path }: KeyPlan,
  owner: Owner,
  store: ObjectStore,
  { log, signal }: JobContext,
): Promise<void> {
  const isClaimed = async (key: string): Promise<boolean> => {
    const found = await getDescription(store, key, { signal });
    return found !== undefined && isClaim(found) && isSameOwner(found.owner, owner);
  };
  const isInSeries = async (key: string): Promise<boolean> =>
    [key, key.slice(0, -stagedKey("").length)].some((one) => inSeries(path, one)) && (await isClaimed(key));
  try {
    const uploads =
      t === "series"
        ? await store.abortLeftovers(`${path}_v`, { signal, only: isInSeries })
        : (await store.abortLeftovers(path, { signal, exactly: true, only: isClaimed })) +
          (await store.abortLeftovers(stagedKey(path), { signal, exactly: true, only: isClaimed }));
    if (uploads > 0) log.info("uploads that an earlier worker left behind were ended", { uploads });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn("uploads that an earlier worker left behind could not be ended", { error });
  }
}
