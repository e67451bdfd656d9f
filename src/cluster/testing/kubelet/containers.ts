// The container of one member's pod on the nodes of an in-memory Kubernetes: what it does, what it has, and what keeps it
// from running.
import type { ContainerStatus } from "kubernetes-types/core/v1.js";
import type { FakeEtcd } from "../../../etcd/testing/fake-etcd.ts";
import type { Pod } from "../../../kube/objects/kinds.ts";
import { type Key, keyOf } from "../../../kube/objects/objects.ts";
import { containerOf } from "./container.ts";
import { type Disk, emptyDir } from "./disks.ts";
import type { Doing, Ended } from "./pod-status.ts";
import type { ProcessTls } from "../tls/process-tls.ts";

export interface Container {
  readonly key: Key;
  readonly uid: string;
  readonly address: string;
  readonly node: string;
  doing: Doing;
  image: string;
  restarts: number;
  ended: Ended | undefined;
  /** Status of the init container, where there is one. */
  prepared: ContainerStatus | undefined;
  disk: Disk;
  /** The one that its process is a member of. */
  etcd: FakeEtcd | undefined;
  ready: boolean;
  started: boolean;
  /** Since when its readiness probe fails; undefined: it passes. */
  failsSince: number | undefined;
  /** It is to go. */
  going: boolean;
  /** Its pod ended for good. */
  evicted: boolean;
  /** What its process speaks. */
  tls: ProcessTls | undefined;
  /** What keeps a container from being started, as ErrImagePull. */
  heldUp: string | undefined;
  /** Its process ends at once until then. */
  brokenUntil: number;
  /** Its next start, so that an earlier one that was asked for is forgotten. */
  attempt: number;
}

/** The `number`th that there ever was. */
export function newContainer(pod: Pod, node: string, number: number): Container {
  return {
    key: keyOf(pod),
    uid: pod.metadata?.uid ?? "",
    address: `10.0.${Math.floor(number / 250)}.${(number % 250) + 1}`,
    node,
    doing: { t: "waiting", reason: "ContainerCreating" },
    image: containerOf(pod)?.image ?? "",
    restarts: 0,
    ended: undefined,
    prepared: undefined,
    disk: emptyDir(),
    etcd: undefined,
    ready: false,
    started: false,
    failsSince: undefined,
    going: false,
    evicted: false,
    tls: undefined,
    heldUp: undefined,
    brokenUntil: 0,
    attempt: 0,
  };
}

/** It can be harmed: nobody told it to go, and it has not ended. */
export const isThere = ({ going, evicted }: Container): boolean => !going && !evicted;
