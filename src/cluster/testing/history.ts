// Histories of a cluster: what happens to it, step by step, with operators that die in between; played on a stage, and
// brought to rest when all trouble is over.
import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { Pod } from "../../kube/objects/kinds.ts";
import type { Signer } from "../context.ts";
import { type Happening, happenings, type Sort, volumesOf } from "./happenings.ts";
import type { Fate } from "./life.ts";
import { Nature } from "./nature.ts";
import { attendToRestore, isBackedUp, isCloneSettled, otherNamespace } from "./people.ts";
import { signerFor } from "./tls/signer.ts";
import { Stage } from "./stage.ts";

export interface Step {
  readonly happening: Happening;
  readonly ms: number;
  /** Another operator takes over before it, and this becomes of it. */
  readonly operator: Fate | undefined;
}

export interface History {
  readonly seed: number;
  readonly version: string;
  readonly size: number;
  /** It begins when the cluster is as it was asked for, else with nothing. */
  readonly fromRest: boolean;
  /** Its first members know nothing of `--max-learners`. */
  readonly oldFlags: boolean;
  /** Its members keep their data in volumes of their own. */
  readonly volumes: boolean;
  /** Its members and clients speak TLS, with certificates that the operator makes. */
  readonly tls: boolean;
  /** Operators manage backups and restores, too. */
  readonly copies: boolean;
  readonly steps: readonly Step[];
}

export interface HistoryOptions {
  readonly sorts: readonly Sort[];
  readonly versions?: readonly string[];
  readonly smallest?: number;
}

export function histories({ sorts, versions, smallest = 1 }: HistoryOptions): fc.Arbitrary<History> {
  const write = fc.integer({ min: 1, max: 8 });
  const operator: fc.Arbitrary<Fate> = fc.oneof(
    fc.record({ t: fc.constant("lives" as const) }),
    fc.record({ t: fc.constant("dies" as const), after: write }),
    fc.record({ t: fc.constant("losesAnswer" as const), of: write }),
  );
  const step = fc.record({
    happening: happenings(sorts),
    ms: fc.constantFrom(0, 100, 500, 1000, 2500, 6000, 30_000, 150_000),
    operator: fc.option(operator, { nil: undefined, freq: 2 }),
  });
  return fc.record({
    seed: fc.nat(),
    version: fc.constantFrom(...(versions ?? ["3.6.16", "3.6.16", "3.5.35", "3.4.23", "3.2.32"])),
    size: fc.integer({ min: smallest, max: 5 }),
    fromRest: fc.boolean(),
    oldFlags: sorts.includes("flags") ? fc.boolean() : fc.constant(false),
    volumes: sorts.includes("volumes")
      ? fc.constant(true)
      : sorts.some((sort) => ["moves", "restores", "reapplied"].includes(sort))
        ? fc.boolean()
        : fc.constant(false),
    tls: fc.constant(sorts.includes("certificates") || sorts.includes("secrets")),
    copies: fc.constant(sorts.includes("restores") || sorts.includes("clones")),
    steps: fc.array(step, { minLength: 3, maxLength: 15 }),
  });
}

/** Mulberry32: enough chance for a simulation, and the same for the same seed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const lives: Fate = { t: "lives" };
/** Longer than any patience that an operator has with a member, several times over. */
const restWithinMs = 20 * 60_000;
/** In which the last of it is reported. */
const reportMs = 8_000;
/** How often time is given to take over certificates: several CAs may have been lost, one after another. */
const mostTakeovers = 60;
/** Longer than a cluster at rest goes unlooked at. */
const quietMs = 40_000;

export class Play implements AsyncDisposable {
  readonly stage: Stage;
  readonly nature: Nature;
  readonly #random: () => number;
  readonly #copies: boolean;

  /** `care`: nothing happens to it that a cluster does not survive by itself. */
  static async of(history: History, care: boolean): Promise<Play> {
    return new Play(history, care, history.tls ? signerFor() : undefined);
  }

  private constructor({ seed, size, version, volumes, copies }: History, care: boolean, signer: Signer | undefined) {
    this.#random = chance(seed);
    this.#copies = copies;
    const more = copies ? ({ controllers: "all", namespaces: [otherNamespace] } as const) : {};
    this.stage = new Stage({ random: this.#random, ...(signer && { signer }), ...more });
    this.nature = new Nature(this.stage, { care, size, version, volumes });
    if (care) this.stage.watch.allowAbsence();
    else this.stage.watch.allowLoss();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
  }

  async play({ size, version, fromRest, oldFlags, volumes, tls, steps }: History): Promise<void> {
    if (oldFlags) this.stage.rules.podsAreMade = "withoutMaxLearners";
    this.stage.startOperator();
    const more = { ...(volumes && { pod: volumesOf("1Gi") }), ...(tls && { TLS: { auto: true } }) };
    await this.stage.create(size, version, more);
    if (fromRest) await this.#untilAsAsked();
    for (const { happening, ms, operator } of steps) {
      await this.#replaceOperator(operator);
      await this.nature.happen(happening);
      await this.#pass(ms);
    }
  }

  /**
   * Nothing happens to members any more, and they are healed, whatever is forbidden around them and whatever the spec
   * says. Then all trouble is over: it becomes as it was asked for, and costs no writes; or it is lost for good.
   */
  async comeToRest(): Promise<void> {
    const { stage, nature } = this;
    nature.leaveInPeace();
    await this.#replaceOperator(lives);
    if (await nature.mayMakePods()) await this.#untilAsAsked("members are not healed");
    await nature.calmDown();
    await stage.stopOperator();
    const life = stage.startOperator();
    await this.#untilAsAsked();
    if (stage.watch.isDoomed()) return;
    await this.#letApplicationsFollow();
    await this.#untilChanged();
    await nature.disarmByHand();
    if (this.#copies) {
      await stage.until("the clone is settled", () => isCloneSettled(stage), restWithinMs);
      await stage.until("the last backup is over", () => isBackedUp(stage), restWithinMs);
    }
    await stage.pass(reportMs);
    const before = life.writes.length;
    await stage.pass(quietMs);
    assert.deepEqual(life.writes.slice(before), [], `it never rests; ${await stage.describe()}`);
    assert.ok(await this.isAsAsked(), `it did not stay so; ${await stage.describe()}`);
    assert.deepEqual(stage.kubelet.apart, []);
    assert.ok(await stage.write(), `no client is taken; ${await stage.describe()}`);
    const { status, reason } = (await stage.condition("Ready")) ?? {};
    const isRefused = reason === "VersionDiffers";
    assert.ok(status === "True" || isRefused, `it is not ready; ${await stage.describe()}`);
    if (!isRefused) assert.deepEqual(await stage.imageChecks(), []);
  }

  async isAsAsked(): Promise<boolean> {
    const { kubelet, watch } = this.stage;
    const size = kubelet.etcd?.members.length ?? 0;
    if (!this.nature.sizes.includes(size) || !watch.decidesAmong(size)) return false;
    return (await this.#findablePods()).length === size;
  }

  /** One that lost both its member and its labels cannot be found by any operator. */
  async #findablePods(): Promise<Pod[]> {
    const members = new Set(this.stage.kubelet.etcd?.members.map(({ name }) => name));
    const pods = await this.stage.pods();
    return pods.filter(({ metadata }) => metadata?.labels?.["app"] === "etcd" || members.has(metadata?.name ?? ""));
  }

  async #untilAsAsked(failure = "it does not come to rest"): Promise<void> {
    const { stage } = this;
    const deadline = stage.clock.now() + restWithinMs;
    while (!(await this.isAsAsked()) && !stage.watch.isDoomed()) {
      if (stage.clock.now() >= deadline) assert.fail(`${failure}; ${await stage.describe()}`);
      await this.#pass(500);
    }
  }

  /** Applications get as long as a certificate lives to take over another CA, and all of that time passes. */
  async #letApplicationsFollow(): Promise<void> {
    for (let round = 0; round < mostTakeovers; round += 1) {
      await this.#pass(30_000);
      const { reason, message } = (await this.stage.condition("CertificatesValid")) ?? {};
      if (reason !== "TakingOver") return;
      if (message?.includes("applications have time")) await this.nature.happen({ t: "days", number: 10 });
    }
  }

  /** Members get the version and the settings of the spec, if it can be reached, and the certificates that were made last. */
  async #untilChanged(): Promise<void> {
    const { stage } = this;
    const deadline = stage.clock.now() + restWithinMs;
    const isChanged = async (): Promise<boolean> => {
      const { metadata } = await stage.cluster();
      const { reason, observedGeneration } = (await stage.condition("Ready")) ?? {};
      if (observedGeneration !== metadata?.generation || !(await this.isAsAsked())) return false;
      if (!(await stage.isCertified()) || (await stage.isRestoring())) return false;
      return reason === "AllMembersReady" || reason === "VersionDiffers";
    };
    await this.#pass(2_000);
    while (!(await isChanged())) {
      if (stage.clock.now() >= deadline) assert.fail(`members are not changed; ${await stage.describe()}`);
      if (this.#copies) await attendToRestore(stage);
      await this.#pass(500);
    }
    // A version that cannot be reached is said as long as it is asked for, also while settings are still changed.
    if ((await stage.condition("Ready"))?.status !== "True") await this.#pass(120_000);
  }

  /** Clients write all the while. */
  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      await this.stage.pass(Math.min(1000, left));
      await this.stage.write(Math.floor(this.#random() * 10));
    }
    if (this.stage.isOperatorOver) await this.#replaceOperator(lives);
  }

  async #replaceOperator(fate: Fate | undefined): Promise<void> {
    if (fate === undefined) return;
    await this.stage.stopOperator();
    this.stage.startOperator(fate);
  }
}
