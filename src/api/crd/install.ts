// Applies the definitions of our kinds and waits until the API server serves them. It takes over a definition that
// exists, also one of etcd-operator 0.9, and keeps other versions that somebody serves under it.
import type { KubeApi } from "../../kube/client/api.ts";
import { type Backoff, backoffDelay, type Clock, pause, systemClock } from "../../kube/clock.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { CustomResourceDefinition } from "../../kube/objects/kinds.ts";
import type { Logger } from "../../kube/process/log.ts";
import { fieldManager } from "../field-manager.ts";
import type { Definition } from "./crd.ts";

/** Between two tries: somebody may have to grant a right or mend the API server first. */
const betweenTries: Backoff = { firstMs: 500, maxMs: 30_000, jitter: 0.2 };
/** An API server needs some hundred milliseconds to serve a new kind. */
const betweenLooks: Backoff = { firstMs: 50, maxMs: 1000, jitter: 0 };
const looks = 20;

/** The API server has the definition and does not serve it. */
export class NotEstablishedError extends Error {
  readonly definition: string;

  constructor(definition: string, why: string) {
    super(`The API server does not serve the CRD ${definition}: ${why}`);
    this.name = "NotEstablishedError";
    this.definition = definition;
  }
}

/** Tries until every one is served. Rejects only when the signal aborts, with its reason. */
export async function installCrds(
  api: KubeApi,
  wanted: readonly Definition[],
  signal: AbortSignal,
  log: Logger,
  clock: Clock = systemClock,
): Promise<void> {
  await Promise.all(wanted.map((definition) => installUntilServed(api, definition, signal, log, clock)));
}

async function installUntilServed(
  api: KubeApi,
  definition: Definition,
  signal: AbortSignal,
  log: Logger,
  clock: Clock,
): Promise<void> {
  const { kind } = definition.spec.names;
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    try {
      await installCrd(api, definition, signal, clock);
      log.info(`The API server serves ${kind}.`, { definition: definition.metadata.name });
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
  definition: Definition,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  const key = { namespace: "", name: definition.metadata.name };
  const before = await getOrUndefined(api, CustomResourceDefinition, key, { signal });
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
 * The list of versions is applied as a whole, so it must include versions of others. Objects are stored in our version
 * from now on: there can be only one storage version.
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
  const unmet = status?.conditions?.filter((condition) => condition.status !== "True") ?? [];
  return unmet.length === 0 ? "it has not reported why" : unmet.map(({ message = "" }) => message).join("; ");
}
