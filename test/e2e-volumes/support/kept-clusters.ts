// Clusters with volumes in several versions of etcd, each with a writer, under one operator that can be taken away.
import assert from "node:assert/strict";
import { createCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { restrictedNamespace } from "../../e2e/support/environment.ts";
import type { HealthyCluster } from "../../e2e/support/healthy.ts";
import { Writer } from "../../e2e/proofs/writer.ts";
import { deleteLeases, OperatorProcess } from "../../e2e/support/operator-process.ts";
import { isMatrix, type Row, rowsOf } from "../../support/matrix.ts";
import { beganOnce, sameMembers } from "./returned.ts";
import { claimsOf, onVolumes, uidOf } from "./volumes.ts";

interface Kind extends Row {
  readonly version: string;
  readonly tls?: true;
}

const kinds: readonly Kind[] = [
  { version: "3.6.16" },
  // Without learners.
  { version: "3.2.13" },
  { version: "3.4.23", onlyInMatrix: true },
  { version: "3.5.35", onlyInMatrix: true },
  { version: "3.7.3", onlyInMatrix: true },
  ...["3.2.13", "3.4.23", "3.5.35", "3.6.16", "3.7.3"].map(
    (version) => ({ version, tls: true, onlyInMatrix: true }) as const,
  ),
];

/** The current version alone. */
export const currentKind: readonly Kind[] = kinds.slice(0, 1);

const atOnce = 3;

interface KeptCluster {
  readonly cluster: TestCluster;
  readonly writer: Writer;
  readonly first: HealthyCluster;
  /** Uids. */
  readonly claims: readonly string[];
}

export class KeptClusters {
  readonly namespace: string;
  #operator: OperatorProcess;
  #kept: readonly KeptCluster[] = [];

  private constructor(namespace: string) {
    this.namespace = namespace;
    this.#operator = new OperatorProcess({ namespace });
  }

  /** In a namespace of their own, healthy. No member is given up for as long as an outage takes. */
  static async create(prefix: string, sample = rowsOf(kinds)): Promise<KeptClusters> {
    const all = new KeptClusters(await restrictedNamespace(prefix));
    try {
      const wanted = [...(isMatrix ? kinds : sample)];
      // The first members of a few at a time: thirty that start at once take minutes on two cores.
      while (wanted.length > 0) {
        const made = await Promise.all(wanted.splice(0, atOnce).map((kind) => all.#create(kind)));
        all.#kept = [...all.#kept, ...made];
      }
    } catch (error) {
      await all.stop();
      throw error;
    }
    return all;
  }

  async #create({ version, tls }: Kind): Promise<KeptCluster> {
    const { namespace } = this;
    const name = `${tls ? "tls" : "v"}${version.replaceAll(".", "-")}`;
    const patient = { failover: { unreachableAfterSeconds: 600 } };
    const spec = { size: 3, version, pod: onVolumes(), ...patient, ...(tls && { TLS: { auto: tls } }) };
    const cluster = await createCluster({ namespace, name }, spec);
    const first = await this.during(cluster.untilHealthy());
    return { cluster, first, writer: new Writer(cluster), claims: (await claimsOf(cluster)).map(uidOf) };
  }

  /** The one in the current version. */
  get current(): KeptCluster {
    const [first] = this.#kept;
    assert.ok(first);
    return first;
  }

  /** Runs the work while no operator does; another one starts afterwards. */
  async withoutOperator(work: () => Promise<void>): Promise<void> {
    await this.#operator.kill();
    await deleteLeases(this.namespace);
    await work();
    this.#operator = new OperatorProcess({ namespace: this.namespace });
  }

  during<T>(work: Promise<T>): Promise<T> {
    return this.#operator.during(work);
  }

  /** Waits until each is healthy: the same members of the same cluster on the same claims, with every key. */
  async allReturn(): Promise<readonly HealthyCluster[]> {
    return Promise.all(
      this.#kept.map(async ({ cluster, first, writer, claims }) => {
        const after = await this.during(cluster.untilHealthy());
        sameMembers(first, after);
        assert.deepEqual((await claimsOf(cluster)).map(uidOf), claims);
        await writer.nothingIsLost();
        await beganOnce(cluster);
        return after;
      }),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#kept.map(({ writer }) => writer.stop()));
    await this.#operator.kill();
  }
}
