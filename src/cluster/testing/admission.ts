// What stands between an operator and the API server of an in-memory Kubernetes: webhooks that change the pods that are made,
// quotas that are used up, policies that refuse.
import { createHash } from "node:crypto";
import type { PodSpec } from "kubernetes-types/core/v1.js";
import { ApiError } from "../../kube/client/errors.ts";
import { PersistentVolumeClaim, Pod, Secret } from "../../kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import { withoutFlag } from "./kubelet/container.ts";
import type { Admission } from "./life.ts";

type Asked = Parameters<Admission["check"]>;
export type Forbidden = (...asked: Asked) => boolean;

/** In the words of who runs such a webhook. */
export const webhooks = ["mirror", "digest", "sidecar", "tolerate", "label", "secure", "nothing"] as const;
export type Webhook = (typeof webhooks)[number];

/** What a registry mirror, a policy or an injector of sidecars makes of a pod. */
export type PodChange = <T extends KubeObject & Pick<Pod, "spec">>(pod: T, verb: "create" | "replace") => T;

export const quotas = ["pods", "claims", "secrets"] as const;
export type Quota = (typeof quotas)[number];

const refused: Readonly<Record<Quota, Kind<KubeObject>>> = {
  pods: Pod,
  claims: PersistentVolumeClaim,
  secrets: Secret,
};

/** Another registry, digests, a proxy beside the program, tolerations, labels, users: all that clusters add to pods. */
const changes: Readonly<Record<Webhook, (pod: Pod) => Pod>> = {
  mirror: (pod) => withImages(pod, (image) => (image.startsWith(mirror) ? image : `${mirror}${image}`)),
  digest: (pod) => withImages(pod, (image) => (image.includes("@") ? image : `${image}@sha256:${digestOf(image)}`)),
  sidecar: (pod) => withSpec(pod, ({ containers }) => ({ containers: [...containers, proxy] })),
  tolerate: (pod) => withSpec(pod, ({ tolerations = [] }) => ({ tolerations: [...tolerations, toleration] })),
  label: (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata?.labels, team: "storage" } } }),
  secure: (pod) =>
    withSpec(pod, ({ securityContext }) => ({ securityContext: { ...securityContext, runAsUser: 1001 } })),
  nothing: (pod) => pod,
};

const mirror = "mirror.example/";
const proxy = { name: "proxy", image: "mesh.example/proxy:1" };
const toleration = { key: "storage", operator: "Exists" };
const digestOf = (image: string): string => createHash("sha256").update(image).digest("hex");

const withSpec = (pod: Pod, change: (spec: PodSpec) => Partial<PodSpec>): Pod =>
  pod.spec === undefined ? pod : { ...pod, spec: { ...pod.spec, ...change(pod.spec) } };

const withImages = (pod: Pod, change: (image: string) => string): Pod =>
  withSpec(pod, ({ containers }) => ({
    containers: containers.map((one) => ({ ...one, ...(one.image !== undefined && { image: change(one.image) }) })),
  }));

export class Rules implements Admission {
  /** Whether new pods get all the flags that an operator wrote, or those of one that knew fewer. */
  podsAreMade: "asWritten" | "withoutMaxLearners" = "asWritten";
  webhook: Webhook = "nothing";
  /** One more, as a test writes it. */
  also: PodChange | undefined;
  readonly #forbidden = new Set<{ readonly forbidden: Forbidden; readonly words: string }>();

  /** Until the answer is called. */
  forbid(forbidden: Forbidden, words: string): () => void {
    const rule = { forbidden, words };
    this.#forbidden.add(rule);
    return () => this.#forbidden.delete(rule);
  }

  /** No object of this kind is made any more, as if a quota were used up. */
  refuse({ kind, plural }: Kind<KubeObject>): () => void {
    return this.forbid((verb, of) => verb === "create" && of.kind === kind, `exceeded quota: ${plural}`);
  }

  useUp(quota: Quota): () => void {
    return this.refuse(refused[quota]);
  }

  check = (...asked: Asked): void => {
    for (const { forbidden, words } of this.#forbidden)
      if (forbidden(...asked)) throw new ApiError(403, "Forbidden", `${asked[1].plural} is forbidden: ${words}`);
  };

  change = <T extends KubeObject>(kind: Kind<T>, object: T, verb: "create" | "replace"): T => {
    if (kind.kind !== Pod.kind) return object;
    const isOld = verb === "create" && this.podsAreMade === "withoutMaxLearners";
    const made = isOld ? withoutFlag(object, "max-learners") : object;
    const changed = this.also === undefined ? made : this.also(made, verb);
    // It is a Pod, as its name says; and it stays one.
    return changes[this.webhook](changed as Pod) as T;
  };
}
