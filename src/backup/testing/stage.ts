// The whole controller of EtcdBackups on an in-memory Kubernetes with simulated workers, in simulated time: operators come
// and go, one at a time.
import assert from "node:assert/strict";
import { EtcdBackup, type EtcdBackupSpec, type EtcdBackupStatus } from "../../api/etcd-backup/etcd-backup.ts";
import { fakeKinds } from "../../api/testing/fake-kinds.ts";
import { type Admission, apiDuring, type Fate, Life } from "../../cluster/testing/life.ts";
import { ApiError, isNotFound } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import type { Key } from "../../kube/objects/objects.ts";
import { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { backupController } from "../controller.ts";
import { FakeWorkers } from "./fake-workers.ts";
import { OperatorStage } from "../../controllers/testing/operator-stage.ts";

/** Identifies the one EtcdBackup there is. */
export const key: Key = { namespace: "default", name: "nightly" };

export const toS3: EtcdBackupSpec = {
  etcdEndpoints: ["http://demo-client:2379"],
  storageType: "S3",
  s3: { path: "bucket/etcd/backup", awsSecret: "aws" },
};

export class Stage extends OperatorStage<Life> {
  readonly api: FakeApi;
  readonly workers: FakeWorkers;
  /** Undefined: not known yet. */
  image: string | undefined = "operator:1";
  /** Why no pod is taken; undefined: they are. */
  quota: string | undefined;
  #isTerminating = false;

  constructor(beganAt = "2026-01-01T00:00:00Z") {
    super(beganAt);
    const { clock } = this;
    this.api = new FakeApi({
      kinds: [...fakeKinds, { kind: Pod, graceful: true }],
      clock,
      date: () => new Date(this.now()),
    });
    this.workers = new FakeWorkers(this.api, clock, this.now);
  }

  startOperator(fate: Fate = { t: "lives" }): Life {
    const life = new Life(fate);
    return this.begin(life, apiDuring(life, this.api, this.#admission), (parts) =>
      backupController({
        ...parts,
        scope: { t: "namespaces", names: [key.namespace] },
        workerImage: () => this.image,
        random: () => 0.5,
      }),
    );
  }

  readonly #admission: Admission = {
    check: (verb, { kind }) => {
      if (verb === "create" && this.#isTerminating) throw namespaceTerminating(kind);
      if (verb === "create" && kind === Pod.kind && this.quota !== undefined)
        throw new ApiError(403, "Forbidden", `pods is forbidden: ${this.quota}`);
    },
    change: (_kind, object) => object,
  };

  get life(): Life {
    assert.ok(this.running);
    return this.running.life;
  }

  // What people do

  async create(spec: Partial<EtcdBackupSpec> = {}, status?: EtcdBackupStatus): Promise<void> {
    await this.api.create(EtcdBackup, { metadata: { ...key }, spec: { ...toS3, ...spec } });
    if (status !== undefined) await this.api.mergePatch(EtcdBackup, key, { status }, { subresource: "status" });
  }

  async edit(spec: object): Promise<void> {
    await this.api.mergePatch(EtcdBackup, key, { spec });
  }

  /** As the namespace controller does it: nothing can be created any more, and everything is deleted. */
  async deleteNamespace(): Promise<void> {
    this.#isTerminating = true;
    await this.api.delete(EtcdBackup, key).catch(() => undefined);
    for (const name of await this.podNames()) await this.api.delete(Pod, { ...key, name }).catch(() => undefined);
  }

  async ask(value: string): Promise<void> {
    const annotations = { "etcd.database.coreos.com/backup-now": value };
    await this.api.mergePatch(EtcdBackup, key, { metadata: { annotations } });
  }

  // Time

  pass = (ms: number): Promise<void> => this.clock.advance(ms);

  async until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 600_000): Promise<void> {
    const deadline = this.clock.now() + withinMs;
    while (!(await holds())) {
      if (this.clock.now() >= deadline) assert.fail(`${what}: not within ${withinMs} ms; ${await this.describe()}`);
      await this.pass(500);
    }
  }

  untilPhase = (phase: string): Promise<void> => this.until(phase, async () => (await this.status()).phase === phase);

  // What is there

  backup = (): Promise<EtcdBackup> => this.api.get(EtcdBackup, key);

  status = async (): Promise<EtcdBackupStatus> => (await this.backup()).status ?? {};

  async isGone(): Promise<boolean> {
    return await this.backup().then(
      () => false,
      (error: unknown) => isNotFound(error),
    );
  }

  async condition(type: string) {
    return (await this.status()).conditions?.find((condition) => condition.type === type);
  }

  async podNames(): Promise<string[]> {
    return (await this.api.list(Pod)).items.map(({ metadata }) => metadata?.name ?? "").toSorted();
  }

  /** The sample of this name and these labels in the running operator's metrics; undefined when there is none. */
  metric(sample: string): number | undefined {
    const lines = this.running?.observer.metrics.registry.text().split("\n") ?? [];
    const line = lines.find((one) => one.startsWith(`${sample}{`));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")));
  }

  async describe(): Promise<string> {
    const writes = [...this.writes, ...(this.running?.life.writes ?? [])].slice(-12);
    return `${JSON.stringify(await this.backup().catch(String))}; pods ${(await this.podNames()).join(", ")}; last writes: ${writes.join(", ")}`;
  }
}

/** In the words and with the cause of an API server. */
function namespaceTerminating(kind: string): ApiError {
  const { namespace } = key;
  const message = `${kind} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  const reason = "NamespaceTerminating";
  return new ApiError(403, "Forbidden", message, [{ reason, message: `namespace ${namespace} is being terminated` }]);
}
