// A namespace with etcd clusters in it, watched: who is there, when they are voters, when they are gone.
import { EtcdMembers } from "../../src/etcd/members.ts";
import { Informer } from "../../src/kube/cache/informer.ts";
import { Pod } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";
import { until } from "./until.ts";
import { findData, findVoters, type Reach, type Voter, type Whole } from "./voters.ts";

export class Place implements Disposable {
  readonly ground: Ground;
  readonly namespace: string;
  readonly #pods: Informer<Pod>;
  readonly #members = new EtcdMembers();
  readonly #end = new AbortController();

  private constructor(ground: Ground, namespace: string) {
    this.ground = ground;
    this.namespace = namespace;
    const selection = { namespace, labelSelector: "app=etcd" };
    this.#pods = new Informer({ api: ground.api, kind: Pod, selection, observe: () => undefined });
  }

  static async open(ground: Ground, namespace: string): Promise<Place> {
    const place = new Place(ground, namespace);
    void place.#pods.run(place.#end.signal).catch(() => undefined); // ends with the place
    await place.#pods.whenSynced(ground.signal);
    return place;
  }

  key(name: string): { namespace: string; name: string } {
    return { namespace: this.namespace, name };
  }

  podsOf(cluster: string): Pod[] {
    return this.#pods.store.withLabel("etcd_cluster", cluster);
  }

  /** Until the cluster is that many healthy voters, and has no other pods. */
  async untilVoters(
    cluster: string,
    size: number,
    { without, reach }: { without?: Voter; reach?: () => Promise<Reach | string> } = {},
  ): Promise<readonly Voter[]> {
    return until(
      `${size} voters of ${cluster}`,
      async () => {
        const pods = this.podsOf(cluster);
        if (pods.some(({ metadata }) => metadata?.uid === without?.uid)) return `${without?.name} is still there`;
        const how = await reach?.();
        return typeof how === "string" ? how : findVoters(pods, size, this.#members, how);
      },
      this.ground.signal,
    );
  }

  /** Until the cluster is that many voters that hold all data, whether they serve clients yet or not. */
  async untilWhole(cluster: string, size: number, { without, ...whole }: Whole & { without: Voter }): Promise<void> {
    await until(
      `${size} voters of ${cluster} with all data`,
      async () => {
        const pods = this.podsOf(cluster);
        if (pods.some(({ metadata }) => metadata?.uid === without.uid)) return `${without.name} is still there`;
        return findData(pods, size, whole);
      },
      this.ground.signal,
    );
  }

  async untilGone(cluster: string): Promise<void> {
    const podsLeft = async (): Promise<Pod[] | string> => {
      const pods = this.podsOf(cluster);
      return pods.length === 0 ? pods : `${pods.length} pods`;
    };
    await until(`${cluster} to be gone`, podsLeft, this.ground.signal);
  }

  /** Resolves when the cluster has its first pod, in the moment that the watch tells of it. */
  async firstPodOf(cluster: string): Promise<void> {
    const { signal } = this.ground;
    const stops: (() => void)[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        const onAbort = (): void => reject(new Error("interrupted", { cause: signal.reason }));
        signal.addEventListener("abort", onAbort, { once: true });
        stops.push(
          () => signal.removeEventListener("abort", onAbort),
          this.#pods.subscribe(({ object }) => {
            if (object.metadata?.labels?.["etcd_cluster"] === cluster) resolve();
          }),
        );
      });
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** As a person in a hurry does it. */
  async deleteNow({ name, uid }: Pick<Voter, "name" | "uid">): Promise<void> {
    await this.ground.api.delete(Pod, this.key(name), { uid, gracePeriodSeconds: 0 });
  }

  [Symbol.dispose](): void {
    this.#end.abort(new Error("the benchmark has ended"));
    this.#members.close();
  }
}
