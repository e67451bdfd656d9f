// All the nodes of an in-memory Kubernetes: pods get an address and run, and what runs in them are members of an
// in-memory etcd, which start and end as the real ones do.
import { variableOf } from "../../api/etcd-cluster/etcd-flags.ts";
import type { EtcdMember } from "../../etcd/member.ts";
import { FakeEtcd } from "../../etcd/testing/fake-etcd.ts";
import type { Clock } from "../../kube/clock.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { type Key, keyOf } from "../../kube/objects/objects.ts";
import type { FinishedCall } from "../../kube/testing/fake-api/calls.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { etcdContainer, versionAnnotation } from "../objects/member-pod.ts";
import { memberUrl } from "../objects/endpoints.ts";

/** How long things take, in milliseconds. */
const times = { run: 300, crashLoop: 10_000, stop: 200, vanish: 1000, catchUp: 250 } as const;

const nobody = new FakeEtcd({
  name: "nobody",
  peerUrl: "http://nobody.example:2380",
  clientUrl: "http://nobody.example:2379",
});

export class Kubelet {
  /** Of the seed that ran last. */
  etcd: FakeEtcd | undefined;
  /** How often a cluster was begun: once, for one EtcdCluster. */
  seeds = 0;
  /** How often one ended at once because it was given another list of members than etcd has. */
  misled = 0;
  readonly #api: FakeApi;
  readonly #clock: Clock;
  /** By uid, from when they are to end. */
  readonly #going = new Set<string>();
  /** By uid, those whose etcd has run: from then on it looks at its data and not at its command. */
  readonly #ran = new Set<string>();
  #addresses = 0;

  constructor(api: FakeApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
    api.onWrite((write) => this.#heard(write));
  }

  /** Whoever listens there. */
  at({ url }: { readonly url: string }): EtcdMember {
    return (this.etcd ?? nobody).at(url);
  }

  #heard({ kind, verb, object }: FinishedCall): void {
    if (kind !== Pod.kind || object === undefined) return;
    const pod = object as Pod; // the server keeps pods under this kind
    const uid = pod.metadata?.uid ?? "";
    if (verb === "create") {
      this.#addresses += 1;
      const address = `10.0.${Math.floor(this.#addresses / 250)}.${(this.#addresses % 250) + 1}`;
      this.#clock.after(times.run, () => void this.#run(pod, address));
    }
    if (verb === "delete" && !this.#going.has(uid)) {
      this.#going.add(uid);
      this.#clock.after(times.stop, () => this.#stop(pod));
      this.#clock.after(times.vanish, () => void this.#vanish(keyOf(pod), uid));
    }
  }

  async #run(pod: Pod, address: string): Promise<void> {
    const uid = pod.metadata?.uid ?? "";
    if (this.#going.has(uid)) return;
    const key = keyOf(pod);
    await this.#api.mergePatch(Pod, key, { spec: { nodeName: "n1" } });
    const started = this.#ran.has(uid) || this.#startEtcd(pod, address);
    if (started) this.#ran.add(uid);
    else this.#clock.after(times.crashLoop, () => void this.#run(pod, address));
    await this.#api.mergePatch(Pod, key, { status: statusOf(started, address) }, { subresource: "status" });
  }

  /** False when it ends at once. */
  #startEtcd(pod: Pod, address: string): boolean {
    const { command = [], env = [] } = pod.spec?.containers[0] ?? {};
    const flag = (name: string): string =>
      command.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ??
      env.find((variable) => variable.name === variableOf(name))?.value ??
      "";
    const version = pod.metadata?.annotations?.[versionAnnotation] ?? "";
    const start = {
      name: flag("name"),
      peerUrl: listedUrl(flag("initial-cluster"), flag("name")),
      clientUrl: memberUrl(address),
      version,
    };
    if (flag("initial-cluster-state") === "new") {
      this.seeds += 1;
      this.etcd = new FakeEtcd(start, {
        now: () => this.#clock.now(),
        token: flag("initial-cluster-token"),
        version,
        maxLearners: Number(flag("max-learners") || 1),
        catchUp: times.catchUp,
      });
      return true;
    }
    const given = flag("initial-cluster")
      .split(",")
      .map((entry) => entry.slice(entry.indexOf("=") + 1));
    const listed = this.etcd?.members.flatMap(({ peerUrls }) => peerUrls) ?? [];
    if (given.length !== listed.length || !listed.every((url) => given.includes(url))) {
      this.misled += 1;
      return false;
    }
    this.etcd?.start(start);
    return true;
  }

  #stop(pod: Pod): void {
    const { name } = keyOf(pod);
    if (this.#ran.has(pod.metadata?.uid ?? "") && this.etcd?.members.some((member) => member.name === name))
      this.etcd.lose(name);
  }

  async #vanish(key: Key, uid: string): Promise<void> {
    try {
      await this.#api.delete(Pod, key, { uid, gracePeriodSeconds: 0 });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

/** Where etcd has it, which it learns from its list. */
function listedUrl(list: string, name: string): string {
  const entry = list.split(",").find((one) => one.startsWith(`${name}=`));
  return entry?.slice(name.length + 1) ?? "";
}

function statusOf(started: boolean, podIP: string): Pod["status"] {
  const status = started ? "True" : "False";
  const container = {
    name: etcdContainer,
    image: "etcd",
    imageID: "etcd",
    ready: started,
    restartCount: started ? 0 : 1,
    ...(started
      ? { state: { running: {} } }
      : { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: { exitCode: 1 } } }),
  };
  const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status }));
  return { phase: "Running", podIP, conditions, containerStatuses: [container] };
}
