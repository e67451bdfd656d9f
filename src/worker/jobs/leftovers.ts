// Ends what uploads of this EtcdBackup have left behind, when their worker died: nobody sees the parts, and stores charge
// for them.
import { StoreError } from "../../store/errors.ts";
import type { ObjectStore } from "../../store/store.ts";
import type { KeyPlan } from "../job.ts";
import type { Worker } from "../program/worker.ts";

/**
 * Of a lone backup only of its very name: what that is the beginning of may be an upload of somebody else that is under
 * way, as with `prod` and `prod-eu`. A store that does not allow it keeps nobody from a backup.
 */
export async function endLeftovers({ t, path }: KeyPlan, store: ObjectStore, { log, signal }: Worker): Promise<void> {
  try {
    const uploads = await (t === "once"
      ? store.abortLeftovers(path, { signal, exactly: true })
      : store.abortLeftovers(`${path}_v`, { signal }));
    if (uploads > 0) log.info("uploads that an earlier worker left behind were ended", { uploads });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn("uploads that an earlier worker left behind could not be ended", { error });
  }
}
