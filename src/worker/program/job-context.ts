// What every job is done with.
import type { EtcdMembers } from "../../etcd/members.ts";
import type { Clock } from "../../kube/clock.ts";
import type { Logger } from "../../kube/process/log.ts";
import type { ObjectStore, StoreTarget } from "../../store/store.ts";

export interface JobContext {
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborts when the process is asked to end. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly time: () => number;
  readonly openStore: (target: StoreTarget) => Promise<ObjectStore>;
  readonly members: Pick<EtcdMembers, "at">;
  /** Where the program is. */
  readonly etcdutl: string;
  /** A folder for a file as large as the snapshot. */
  readonly scratch: string;
  /** The most that may be kept there. */
  readonly scratchBytes: number;
  /** `refused`: this member has started before, so that data which is gone must not be made again. */
  readonly restoring: "allowed" | "refused";
  /** The pod's address, and where it looks for short names. */
  readonly place: () => { readonly address: string; readonly search: readonly string[] };
  /** Is told of the bytes that streams have moved. */
  readonly passed?: (bytes: number) => void;
}
