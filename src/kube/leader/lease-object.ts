// The Lease object behind an election: its record read and written. A PUT keeps the labels and whatever else others
// put on the object, and only ever goes over the version that was read.
import type { KubeApi, RequestOptions } from "../client/api.ts";
import type { LeaseRecord, StoredLease } from "./election.ts";
import { getOrUndefined } from "../client/get-or-undefined.ts";
import { Lease } from "../objects/kinds.ts";
import type { Key } from "../objects/objects.ts";

export class LeaseObject {
  readonly #api: KubeApi;
  readonly #key: Key;
  #last: Lease = {};

  constructor(api: KubeApi, key: Key) {
    this.#api = api;
    this.#key = key;
  }

  async read(request: RequestOptions): Promise<StoredLease | undefined> {
    const found = await getOrUndefined(this.#api, Lease, this.#key, request);
    return found && this.#keep(found);
  }

  async create(record: LeaseRecord, request: RequestOptions): Promise<StoredLease> {
    return this.#keep(await this.#api.create(Lease, { metadata: { ...this.#key }, spec: specOf(record) }, request));
  }

  async replace(over: StoredLease, record: LeaseRecord, request: RequestOptions): Promise<StoredLease> {
    // Sent back as read they would be harmless, but they are most of the object's size.
    const { managedFields: _, ...kept } = this.#last.metadata ?? {};
    const metadata = { ...kept, ...this.#key, resourceVersion: over.resourceVersion };
    const spec = { ...this.#last.spec, ...specOf(record) };
    return this.#keep(await this.#api.replace(Lease, { metadata, spec }, request));
  }

  /** Calls `onChange` at each change after that version; resolves when the server ends the watch. */
  async watch(since: StoredLease, signal: AbortSignal, onChange: () => void): Promise<void> {
    const { namespace, name } = this.#key;
    const from = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion: since.resourceVersion, signal };
    await this.#api.watch(Lease, from, (event) => {
      if (event.type !== "BOOKMARK") onChange();
    });
  }

  #keep(lease: Lease): StoredLease {
    this.#last = lease;
    return { record: recordOf(lease), resourceVersion: lease.metadata?.resourceVersion ?? "" };
  }
}

function specOf(record: LeaseRecord): NonNullable<Lease["spec"]> {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
    leaseTransitions: record.transitions,
  };
}

function recordOf(lease: Lease): LeaseRecord {
  const spec = lease.spec ?? {};
  return {
    holder: spec.holderIdentity ?? "",
    durationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: spec.acquireTime ?? "",
    renewTime: spec.renewTime ?? "",
    transitions: spec.leaseTransitions ?? 0,
  };
}
