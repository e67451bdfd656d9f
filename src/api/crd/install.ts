// Applies the CRDs of our kinds and waits until the API server serves them. It takes over a CRD that
// exists, also one of etcd-operator 0.9, and keeps other versions that somebody serves under it.
import type { KubeApi } from "../../kube/client/api.ts";
import { type Backoff, backoffDelay, type Clock, pause, systemClock } from "../../kube/clock.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { CustomResourceDefinition } from "../../kube/objects/kinds.ts";
import type { Logger } from "../../kube/process/log.ts";
import { fieldManager } from "../field-manager.ts";
import type { Crd } from "./crd.ts";

/** Between two tries: somebody may have to grant a permission or mend the API server first. */
const betweenTries: Backoff = { firstMs: 500, maxMs: 30_000, jitter: 0.2 };
/** An API server needs some hundred milliseconds to serve a new kind. */
const betweenReads: Backoff = { firstMs: 50, maxMs: 1000, jitter: 0 };
const reads = 20;

/** The API server has the CRD and does not serve it. */
export class NotEstablishedError extends Error {
  readonly crd: string;

  constructor(crd: string, why: string) {
    super(`The API server does not serve the CRD ${crd}: ${why}`);
    this.name = "NotEstablishedError";
    this.crd = crd;
  }
}

/** Tries until every one is served. Rejects only when the signal aborts, with its reason. */
export async function installCrds(
  api: KubeApi,
  wanted: readonly Crd[],
  signal: AbortSignal,
  log: Logger,
  clock: Clock = systemClock,
): Promise<void> {
  await Promise.all(wanted.map((crd) => installUntilServed(api, crd, signal, log, clock)));
}

async function installUntilServed(
  api: KubeApi,
  crd: Crd,
  signal: AbortSignal,
  log: Logger,
  clock: Clock,
): Promise<void> {
  const { kind } = crd.spec.names;
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    try {
      await installCrd(api, crd, signal, clock);
      log.info(`The API server serves ${kind}.`, { crd: crd.metadata.name });
      return;
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      const delay = backoffDelay(betweenTries, failures, Math.random());
      log.warn(adviceOn(error, kind), { error: String(error), failures, againInMs: Math.round(delay) });
      await pause(clock, delay, signal);
    }
  }
}

function adviceOn(error: unknown, kind: string): string {
  return isForbidden(error)
    ? `The operator has no permission to write the CustomResourceDefinition of ${kind}: grant the permission, or apply example/crd yourself and start the operator with -create-crd=false.`
    : `The operator could not install the CustomResourceDefinition of ${kind}; it retries.`;
}

/** One try. */
export async function installCrd(
  api: KubeApi,
  crd: Crd,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  const key = { namespace: "", name: crd.metadata.name };
  const before = await getOrUndefined(api, CustomResourceDefinition, key, { signal });
  let now = await api.apply(CustomResourceDefinition, besideOtherVersions(crd, before), {
    fieldManager,
    force: true,
    signal,
  });
  for (let read = 1; read <= reads; read += 1) {
    if (isEstablished(now)) return;
    await pause(clock, backoffDelay(betweenReads, read, 0), signal);
    signal.throwIfAborted();
    now = await api.get(CustomResourceDefinition, key, { signal });
  }
  throw new NotEstablishedError(crd.metadata.name, whyNot(now));
}

/**
 * The list of versions is applied as a whole, so it must include versions of others. Objects are stored in our version
 * from now on: there can be only one storage version.
 */
export function besideOtherVersions(crd: Crd, present: CustomResourceDefinition | undefined): CustomResourceDefinition {
  const ours = new Set(crd.spec.versions.map((version) => version.name));
  const others = (present?.spec.versions ?? [])
    .filter((version) => !ours.has(version.name))
    .map((version) => ({ ...version, storage: false }));
  return { ...crd, spec: { ...crd.spec, versions: [...crd.spec.versions, ...others] } };
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return statusOf(status, "NamesAccepted") === "True" && statusOf(status, "Established") === "True";
}

const statusOf = (status: CustomResourceDefinition["status"], type: string): string | undefined =>
  status?.conditions?.find((condition) => condition.type === type)?.status;

function whyNot({ status }: CustomResourceDefinition): string {
  const unmet = status?.conditions?.filter((condition) => condition.status !== "True") ?? [];
  return unmet.length === 0 ? "it has not reported why" : unmet.map(({ message = "" }) => message).join("; ");
}
