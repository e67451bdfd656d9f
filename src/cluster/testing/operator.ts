// One operator process on an in-memory world: the controllers that it runs, from their start to its end. A process that has
// lost its lease may run on for a while: it reads, and whatever it writes is refused, as the fence does.
import type { Events } from "../../api/events.ts";
import type { EtcdMember } from "../../etcd/member.ts";
import type { Endpoint } from "../../etcd/members.ts";
import type { PresentedCertificate } from "../../etcd/presented-certificate.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import type { Clock } from "../../kube/clock.ts";
import type { Controller } from "../../kube/controller/controller.ts";
import { silent } from "../../kube/process/log.ts";
import type { RunningCache } from "../../kube/process/manager.ts";
import { RuntimeObserver } from "../../kube/process/runtime-observer.ts";
import { backupController } from "../../backup/controller.ts";
import { restoreController } from "../../restore/controller.ts";
import type { Signer } from "../context.ts";
import { clusterController } from "../controller.ts";
import { type Life, memberDuring } from "./life.ts";

export interface OperatorOptions {
  readonly life: Life;
  /** As a process with this life sees it. */
  readonly api: KubeApi;
  readonly clock: Clock;
  /** By the clock of its node. */
  readonly now: () => number;
  readonly namespaces: readonly string[];
  readonly controllers: "clusters" | "all";
  readonly signer: Signer;
  readonly events: Events;
  readonly at: (endpoint: Endpoint) => EtcdMember;
  readonly presented: (endpoint: Endpoint) => Promise<PresentedCertificate | undefined>;
  readonly build: Build;
}

/** The code that it runs: of this tree, or of an earlier one. */
export interface Build {
  /** Its own image, which workers run. */
  readonly image: string;
  readonly clusterController: (...parts: Parameters<typeof clusterController>) => Running;
  readonly backupController: (...parts: Parameters<typeof backupController>) => Running;
  readonly restoreController: (...parts: Parameters<typeof restoreController>) => Running;
  observer(): RuntimeObserver;
  /** What it calls, as it knows it. */
  api(api: KubeApi): KubeApi;
  member(member: EtcdMember): EtcdMember;
}

export const presentBuild: Build = {
  image: "etcd-operator:test",
  clusterController,
  backupController,
  restoreController,
  observer: () => new RuntimeObserver(silent),
  api: (api) => api,
  member: (member) => member,
};

interface Running {
  readonly controller: Controller;
  readonly informers: readonly RunningCache[];
}

export class Operator {
  readonly life: Life;
  readonly observer: RuntimeObserver;
  readonly #ended: Promise<unknown>;

  constructor(options: OperatorOptions) {
    const { life, build } = options;
    const api = build.api(options.api);
    this.life = life;
    this.observer = build.observer();
    this.#ended = Promise.all(
      this.#controllers({ ...options, api }).flatMap(({ controller, informers }) => [
        ...informers.map((informer) => informer.run(life.signal)),
        controller.run(api, life.signal, life.lease),
      ]),
    );
  }

  /** Whether it died already or not. */
  async end(): Promise<void> {
    this.life.end();
    await this.#ended;
  }

  #controllers(options: OperatorOptions): Running[] {
    const { life, at, presented, signer, controllers, namespaces, build, ...shared } = options;
    const { observer } = this;
    const common = {
      ...shared,
      observer,
      workerImage: () => build.image,
      scope: { t: "namespaces", names: namespaces } as const,
    };
    const clusters = build.clusterController({
      ...common,
      members: { at: (endpoint) => build.member(memberDuring(life, at(endpoint))) },
      presenter: (endpoint) => life.read(() => presented(endpoint)),
      signer,
    });
    if (controllers === "clusters") return [clusters];
    const { restoreController: restores, backupController: backups } = build;
    return [clusters, restores(common), backups({ ...common, random: () => 0.5 })];
  }
}
