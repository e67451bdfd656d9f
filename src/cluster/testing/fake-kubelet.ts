// A kubelet of a few lines for tests: pods get an address and run, their etcd joins an in-memory cluster, and a pod that
// is deleted takes its process with it. It looks at the whole and never at single events, so a test may skip any.
import type { Clock } from "../../kube/clock.ts";
import { Pod } from "../../kube/kinds.ts";
import { keyOf } from "../../kube/objects.ts";
import { Crashed } from "../../kube/testing/faults.ts";
import type { FakeApi } from "../../kube/testing/fake-api.ts";
import { FakeEtcd } from "../../etcd/testing/fake-etcd.ts";
import { dataDirectory, mostLearners } from "../flags-of-etcd.ts";
import { versionAnnotation } from "../member-pod.ts";
import { memberUrl } from "../observed-etcd.ts";

export class FakeKubelet {
  /** Undefined until the first seed runs. */
  etcd: FakeEtcd | undefined;
  /** How often a process started with no data and the order to make a new cluster. */
  clustersBegun = 0;
  readonly #api: FakeApi;
  readonly #clock: Clock;
  readonly #addresses = new Map<string, string>();
  #looking = false;

  constructor(api: FakeApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const { items } = await this.#api.list(Pod);
      const present = new Set(items.map((pod) => pod.metadata?.uid));
      for (const uid of this.#addresses.keys()) if (!present.has(uid)) this.#end(uid);
      for (const pod of items) await this.#see(pod);
    } catch (error) {
      // The crash of the operator under test ends every call for a while.
      if (!(error instanceof Crashed)) throw error;
    } finally {
      this.#looking = false;
    }
  }

  async #see(pod: Pod): Promise<void> {
    const { uid = "", deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp !== undefined) {
      this.#end(uid);
      await this.#api.delete(Pod, keyOf(pod), { uid, gracePeriodSeconds: 0 });
    } else if (pod.status?.podIP === undefined) {
      const podIP = this.#run(pod);
      const status = {
        phase: "Running",
        podIP,
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: [{ name: "etcd", restartCount: 0, ready: true, state: { running: {} } }],
      };
      await this.#api.mergePatch(Pod, keyOf(pod), { status }, { subresource: "status" });
    }
  }

  #run(pod: Pod): string {
    const { uid = "" } = pod.metadata ?? {};
    const known = this.#addresses.get(uid);
    if (known !== undefined) return known;
    const address = `10.0.0.${this.#addresses.size + 1}`;
    this.#addresses.set(uid, address);
    const start = {
      name: flag(pod, "name"),
      peerUrl: flag(pod, "initial-advertise-peer-urls"),
      clientUrl: memberUrl(address),
    };
    if (flag(pod, "data-dir") !== dataDirectory) throw new Error("the data is not where the volume is");
    if (flag(pod, "initial-cluster-state") === "existing") {
      const listed = flag(pod, "initial-cluster")
        .split(",")
        .map((entry) => entry.slice(entry.indexOf("=") + 1));
      const members = this.etcd?.members.flatMap(({ peerUrls }) => peerUrls) ?? [];
      if (listed.toSorted().join() !== members.toSorted().join())
        throw new Error(`${start.name} exits: ${listed.join()} is not the list`);
      this.etcd?.start(start);
    } else {
      this.clustersBegun += 1;
      const now = (): number => this.#clock.now();
      const version = pod.metadata?.annotations?.[versionAnnotation] ?? "";
      const token = flag(pod, "initial-cluster-token");
      this.etcd = new FakeEtcd(start, { now, version, maxLearners: mostLearners, token });
    }
    return address;
  }

  #end(uid: string): void {
    const address = this.#addresses.get(uid);
    const process = address === undefined ? undefined : this.etcd?.processAt(memberUrl(address));
    if (process !== undefined) this.etcd?.lose(process.name);
  }
}

function flag(pod: Pod, name: string): string {
  const argument = pod.spec?.containers[0]?.command?.find((text) => text.startsWith(`--${name}=`));
  return argument?.slice(name.length + 3) ?? "";
}
