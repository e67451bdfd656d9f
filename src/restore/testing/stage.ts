// The restore controller on an in-memory Kubernetes, in simulated time: operators come and go, one at a time; pods are run by
// `kubelet.ts`, clusters are managed by `cluster-controller.ts`.
import assert from "node:assert/strict";
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore, type EtcdRestoreStatus } from "../../api/etcd-restore/etcd-restore.ts";
import { fakeKinds } from "../../api/testing/fake-kinds.ts";
import type { Scope } from "../../api/scope.ts";
import { type Admission, apiDuring, type Fate, Life } from "../../cluster/testing/life.ts";
import { claimLabel, clusterIdAnnotation, clusterUidAnnotation } from "../../cluster/objects/claims.ts";
import { OperatorStage } from "../../controllers/testing/operator-stage.ts";
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import type { Job } from "../../worker/job.ts";
import { restoreController } from "../controller.ts";
import { runClusters } from "./cluster-controller.ts";
import { type Answer, jobOf, runPods } from "./kubelet.ts";
import { checked, namespace, savedAs, seeded, storedBackup, storedCluster, storedRestore } from "./samples.ts";

const tickMs = 250;

export const answers: Answer = (job) => {
  if (job.do === "check") return checked;
  return job.do === "backup" ? savedAs(job.key.path) : seeded;
};

export class Stage extends OperatorStage<Life> {
  readonly api: FakeApi;
  /** The uids of the EtcdRestores that replaced the data of a cluster, each time. */
  readonly seedings: string[] = [];
  /** The jobs of all pods that were made. */
  readonly jobs: Job[] = [];
  answer: Answer = answers;
  image: string | undefined = "operator";
  scope: Scope = { t: "namespaces", names: [namespace] };
  admission: Admission = { check: () => undefined, change: (_kind, object) => object };

  constructor() {
    super("2026-02-01T00:00:00Z");
    const { clock } = this;
    this.api = new FakeApi({
      kinds: [...fakeKinds, { kind: Pod }, { kind: PersistentVolumeClaim }],
      clock,
      date: () => new Date(this.now()),
    });
    this.api.onWrite(({ verb, kind, object }) => {
      // It is a Pod, as its name says.
      const job = verb === "create" && kind === Pod.kind ? jobOf(object as Pod) : undefined;
      if (job !== undefined) this.jobs.push(job);
    });
  }

  startOperator(fate: Fate = { t: "lives" }): Life {
    const life = new Life(fate);
    return this.begin(life, apiDuring(life, this.api, this.admission), (parts) =>
      restoreController({ ...parts, scope: this.scope, workerImage: () => this.image }),
    );
  }

  get isOperatorOver(): boolean {
    return this.running?.life.isOver === true;
  }

  // What people do

  async make(what: "cluster" | "backup" | "restore", spec: object = {}, name?: string): Promise<void> {
    if (what === "cluster") {
      const { metadata, status, ...cluster } = storedCluster(spec);
      const key = { namespace, name: name ?? metadata?.name ?? "" };
      await this.api.create(EtcdCluster, { ...cluster, metadata: key });
      await this.api.mergePatch(EtcdCluster, key, { status }, { subresource: "status" });
    } else if (what === "backup") {
      const { metadata: _, ...backup } = storedBackup(spec);
      await this.api.create(EtcdBackup, { ...backup, metadata: { namespace, name: name ?? "nightly" } });
    } else {
      const { spec: usual } = storedRestore({ spec });
      await this.api.create(EtcdRestore, { metadata: { namespace, name: name ?? "demo" }, spec: usual });
    }
  }

  /** Those of the cluster's members, with their data in them. */
  async makeVolumes(...names: readonly string[]): Promise<void> {
    const { metadata, status } = await this.cluster();
    for (const name of names) {
      const annotations = {
        [clusterUidAnnotation]: metadata?.uid ?? "",
        [clusterIdAnnotation]: status?.clusterId ?? "",
      };
      const labels = { app: "etcd", etcd_cluster: metadata?.name ?? "", [claimLabel]: "current" };
      await this.api.create(PersistentVolumeClaim, { metadata: { namespace, name, labels, annotations } });
      const bound = { status: { phase: "Bound" } };
      await this.api.mergePatch(PersistentVolumeClaim, { namespace, name }, bound, { subresource: "status" });
    }
  }

  // What is to be seen

  async restore(name = "demo"): Promise<EtcdRestore> {
    return await this.api.get(EtcdRestore, { namespace, name });
  }

  async status(name = "demo"): Promise<EtcdRestoreStatus> {
    return (await this.restore(name)).status ?? {};
  }

  async cluster(name = "demo"): Promise<EtcdCluster> {
    return await this.api.get(EtcdCluster, { namespace, name });
  }

  async workers(): Promise<string[]> {
    const { items } = await this.api.list(Pod, { labelSelector: "app=etcd-worker" });
    return items.map(({ metadata }) => metadata?.name ?? "");
  }

  metrics(): string {
    return this.running?.observer.metrics.registry.text() ?? "";
  }

  // Time

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += tickMs) {
      await this.clock.advance(tickMs);
      await runPods(this.api, this.answer);
      await runClusters(this.api, (uid) => void this.seedings.push(uid));
    }
  }

  /** Until it holds; fails after this many seconds of simulated time. */
  async until(what: string, holds: () => Promise<boolean> | boolean, seconds = 600, name = "demo"): Promise<void> {
    for (let ticks = 0; ticks < (seconds * 1000) / tickMs; ticks += 1) {
      if (await holds()) return;
      await this.pass(tickMs);
    }
    assert.fail(`${what} did not happen; last seen: ${JSON.stringify(await this.status(name))}`);
  }

  async untilOver(name = "demo"): Promise<EtcdRestoreStatus> {
    const isOver = async (): Promise<boolean> =>
      ["Succeeded", "Failed"].includes((await this.status(name)).phase ?? "");
    await this.until("its end", isOver, 600, name);
    await this.pass(2_000);
    return await this.status(name);
  }
}
