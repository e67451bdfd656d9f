// Gives the API server the definitions of our kinds and waits until it serves them. A definition that is there already,
// that of the operator of 2018 too, is taken over; other versions that somebody serves under it stay.
import type { KubeApi } from "../kube/client/api.ts";
import { backoffDelay, pause, systemClock, type Backoff, type Clock } from "../kube/clock.ts";
import { isForbidden, isNotFound } from "../kube/client/errors.ts";
import { CustomResourceDefinition } from "../kube/objects/kinds.ts";
import type { Logger } from "../kube/process/log.ts";
import { type Definition, etcdClusterDefinition } from "./crd.ts";

export const fieldManager = "etcd-operator";

/** Between two tries: whoever has to grant a right or to mend an API server may take his time. */
const betweenTries: Backoff = { firstMs: 500, maxMs: 30_000, jitter: 0.2 };
/** An API server needs some hundred milliseconds to serve a new kind. */
const betweenLooks: Backoff = { firstMs: 50, maxMs: 1000, jitter: 0 };
const looks = 20;

/** The API server has the definition and does not serve it. */
export class NotEstablishedError extends Error {
  readonly definition: string;

  constructor(definition: string, why: string) {
    super(`The definition ${definition} is not served: ${why}`);
    this.name = "NotEstablishedError";
    this.definition = definition;
  }
}

/** Tries until it is done; rejects only when the signal aborts, with its reason. */
export async function installCrds(
  api: KubeApi,
  signal: AbortSignal,
  log: Logger,
  clock: Clock = systemClock,
): Promise<void> {
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    try {
      await installCrd(api, etcdClusterDefinition, signal, clock);
      log.info("The definition of EtcdCluster is served.", { definition: etcdClusterDefinition.metadata.name });
      return;
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      const delay = backoffDelay(betweenTries, failures, Math.random());
      log.warn(adviceOn(error), { error: String(error), failures, againInMs: Math.round(delay) });
      await pause(clock, delay, signal);
    }
  }
}

function adviceOn(error: unknown): string {
  return isForbidden(error)
    ? "The operator may not write CustomResourceDefinitions: grant it, or apply the definitions yourself and start it with -create-crd=false."
    : "The definition of EtcdCluster could not be installed yet.";
}

/** One try. */
export async function installCrd(
  api: KubeApi,
  definition: Definition,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  const key = { namespace: "", name: definition.metadata.name };
  const before = await api.get(CustomResourceDefinition, key, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  let now = await api.apply(CustomResourceDefinition, besideOtherVersions(definition, before), {
    fieldManager,
    force: true,
    signal,
  });
  for (let look = 1; look <= looks; look += 1) {
    if (isEstablished(now)) return;
    await pause(clock, backoffDelay(betweenLooks, look, 0), signal);
    signal.throwIfAborted();
    now = await api.get(CustomResourceDefinition, key, { signal });
  }
  throw new NotEstablishedError(definition.metadata.name, whyNot(now));
}

/**
 * The list of versions is applied as a whole, so those of others have to be in it. Objects are stored in ours from now
 * on: there is one storage version.
 */
export function besideOtherVersions(
  definition: Definition,
  present: CustomResourceDefinition | undefined,
): CustomResourceDefinition {
  const ours = new Set(definition.spec.versions.map((version) => version.name));
  const others = (present?.spec.versions ?? [])
    .filter((version) => !ours.has(version.name))
    .map((version) => ({ ...version, storage: false }));
  return { ...definition, spec: { ...definition.spec, versions: [...definition.spec.versions, ...others] } };
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return statusOf(status, "NamesAccepted") === "True" && statusOf(status, "Established") === "True";
}

const statusOf = (status: CustomResourceDefinition["status"], type: string): string | undefined =>
  status?.conditions?.find((condition) => condition.type === type)?.status;

function whyNot({ status }: CustomResourceDefinition): string {
  const told = status?.conditions?.filter((condition) => condition.status !== "True") ?? [];
  return told.length === 0 ? "it says nothing about it yet" : told.map(({ message = "" }) => message).join("; ");
}
