// The image that the operator itself runs from: its workers run from the same. A flag names another one, for an operator
// that runs outside of Kubernetes or must not read its own pod.
import type { Identity } from "./environment.ts";
import type { KubeApi } from "./kube/client/api.ts";
import { type Backoff, backoffDelay, type Clock, pause, systemClock } from "./kube/clock.ts";
import { isForbidden, isNotFound } from "./kube/client/errors.ts";
import { Pod } from "./kube/objects/kinds.ts";
import type { Logger } from "./kube/process/log.ts";

const betweenTries: Backoff = { firstMs: 500, maxMs: 30_000, jitter: 0.2 };

export class OwnImage {
  #image: string | undefined;

  constructor(given: string) {
    this.#image = given === "" ? undefined : given;
  }

  /** Undefined while it is not known. */
  readonly get = (): string | undefined => this.#image;

  /** Reads it from the operator's own pod, and tries until it has. Ends when there is no such pod. */
  async find(
    api: KubeApi,
    { namespace, pod }: Identity,
    container: string,
    log: Logger,
    signal: AbortSignal,
    clock: Clock = systemClock,
  ): Promise<void> {
    for (let failures = 0; this.#image === undefined && !signal.aborted; ) {
      try {
        const found = await api.get(Pod, { namespace, name: pod }, { signal });
        const containers = found.spec?.containers ?? [];
        this.#image = (containers.find(({ name }) => name === container) ?? containers[0])?.image;
        return;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        if (failures === 1) log.warn(adviceOn(error, pod), { error: String(error) });
        if (isNotFound(error)) return;
        await pause(clock, backoffDelay(betweenTries, failures, Math.random()), signal).catch(() => undefined);
      }
    }
  }
}

function adviceOn(error: unknown, pod: string): string {
  const instead = "start the operator with -worker-image, so that backups can be taken and restored";
  if (isNotFound(error)) return `There is no pod ${pod} to read the operator's image from: ${instead}.`;
  return isForbidden(error)
    ? `The operator has no permission to read its own pod ${pod}: apply example/rbac again, or ${instead}.`
    : "The operator could not read its own pod; it retries.";
}
