// What a test of an alert proves: it is silent before its fault, fires while that lasts, and is silent after it.
import { waitFor } from "../../../lab/progress.ts";
import { patience } from "../support/environment.ts";
import type { Labels, Prometheus } from "../support/prometheus.ts";

/** Two of them may lie between a fault and its alert, each as long as a busy machine takes. */
const timeoutMs = 2 * patience;

export class Proof {
  readonly #prometheus: () => Prometheus;
  readonly #fired = new Set<string>();
  readonly #cleared = new Set<string>();

  constructor(prometheus: () => Prometheus) {
    this.#prometheus = prometheus;
  }

  /** Those that have fired, and were silent after that. */
  get shown(): string[] {
    return [...this.#cleared].sort();
  }

  async fires(labels: Labels, ...alerts: readonly string[]): Promise<void> {
    await this.#until(`${alerts.join(", ")} to fire`, labels, (firing) => alerts.every((one) => firing.includes(one)));
    for (const alert of alerts) this.#fired.add(alert);
  }

  async silent(labels: Labels, ...alerts: readonly string[]): Promise<void> {
    const isSilent = (firing: readonly string[]): boolean => !alerts.some((one) => firing.includes(one));
    await this.#until(`${alerts.join(", ")} to be silent`, labels, isSilent);
    for (const alert of alerts) if (this.#fired.has(alert)) this.#cleared.add(alert);
  }

  /** These fire with the labels, and no others. */
  async exactly(labels: Labels, ...alerts: readonly string[]): Promise<void> {
    const wanted = alerts.toSorted().join(", ");
    await this.#until(`${wanted || "nothing"} to fire`, labels, (firing) => firing.join(", ") === wanted);
    for (const alert of this.#fired) if (!alerts.includes(alert)) this.#cleared.add(alert);
    for (const alert of alerts) this.#fired.add(alert);
  }

  async #until(what: string, labels: Labels, holds: (firing: readonly string[]) => boolean): Promise<void> {
    let seen = "";
    await waitFor(
      `${what} (${JSON.stringify(labels)})`,
      async () => {
        // Not those that are as they are shipped: some last for a day.
        const firing = await this.#prometheus().firing({ patience: "", ...labels });
        seen = firing.join(", ");
        return holds(firing) || undefined;
      },
      { timeoutMs, everyMs: 500, lastSeen: () => `firing: ${seen}` },
    );
  }
}
