// What the API server knows about its own kinds and a test should not have to say: which have a status
// subresource, a generation, fields to select by, and how strictly updates and times are taken.
import type { Json, JsonObject } from "./json.ts";
import { equalJson, isJsonObject } from "./json.ts";
import type { Shape } from "./shapes.ts";
import * as shapes from "./shapes.ts";

export interface Traits {
  readonly status: boolean;
  readonly generation: boolean;
  readonly shape: Shape;
  /** Beside `metadata.name` and `metadata.namespace`. */
  readonly selectable: readonly string[];
  /** A PUT without a resource version overwrites instead of being refused. */
  readonly unconditionalUpdate: boolean;
  /** A PUT of an object that is not there creates it. */
  readonly createOnUpdate: boolean;
  /** Paths of MicroTime values, which must have exactly six digits after the second. */
  readonly microTimes: readonly string[];
  /** The status that a new object starts with. */
  readonly firstStatus: JsonObject | undefined;
  /** Lists give its items without apiVersion and kind, as the server does for the kinds that are compiled into it. */
  readonly bareItems: boolean;
  /** What the server makes of a decoded object before anything else. */
  readonly decode: ((object: JsonObject) => void) | undefined;
  /** What an update may not do; returns field and reason. */
  readonly forbids:
    | ((next: JsonObject, previous: JsonObject) => { field: string; why: string } | undefined)
    | undefined;
}

const ordinary: Traits = {
  status: false,
  generation: false,
  shape: shapes.object({}),
  selectable: [],
  unconditionalUpdate: true,
  createOnUpdate: false,
  microTimes: [],
  firstStatus: undefined,
  bareItems: true,
  decode: undefined,
  forbids: undefined,
};

/** Custom kinds: the CRD says whether there is a status, everything else is alike. */
const custom: Traits = { ...ordinary, generation: true, unconditionalUpdate: false, bareItems: false };

const workload: Traits = { ...ordinary, status: true, generation: true, shape: shapes.workload };

const involved = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const traits: Readonly<Record<string, Traits>> = {
  "/Pod": {
    ...ordinary,
    status: true,
    generation: true,
    shape: shapes.pod,
    selectable: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.schedulerName",
      "spec.serviceAccountName",
      "spec.hostNetwork",
      "status.phase",
      "status.podIP",
      "status.nominatedNodeName",
    ],
    firstStatus: { phase: "Pending" },
    forbids: changedPodSpec,
  },
  "/Service": { ...ordinary, status: true, shape: shapes.service, createOnUpdate: true },
  "/PersistentVolumeClaim": {
    ...ordinary,
    status: true,
    shape: shapes.claim,
    firstStatus: { phase: "Pending" },
    forbids: changedClaimSpec,
  },
  "/Node": { ...ordinary, status: true, shape: shapes.node, selectable: ["spec.unschedulable"] },
  "/ConfigMap": ordinary,
  "/Secret": { ...ordinary, selectable: ["type"], decode: encodeSecret },
  "events.k8s.io/Event": {
    ...ordinary,
    createOnUpdate: true,
    microTimes: ["eventTime", "series.lastObservedTime"],
    selectable: [...involved.map((field) => `regarding.${field}`), "reason", "reportingController", "type"],
  },
  "coordination.k8s.io/Lease": {
    ...ordinary,
    unconditionalUpdate: false,
    createOnUpdate: true,
    microTimes: ["spec.acquireTime", "spec.renewTime"],
  },
  "apps/Deployment": workload,
  "policy/PodDisruptionBudget": {
    ...ordinary,
    status: true,
    generation: true,
    shape: shapes.disruptionBudget,
    unconditionalUpdate: false,
  },
  "apiextensions.k8s.io/CustomResourceDefinition": {
    ...ordinary,
    status: true,
    generation: true,
    shape: shapes.withConditions,
    unconditionalUpdate: false,
  },
};

export function traitsOf(group: string, kind: string): Traits {
  return traits[`${group}/${kind}`] ?? custom;
}

/** `stringData` is only for writing: it comes back as `data`. */
function encodeSecret(secret: JsonObject): void {
  const plain = secret["stringData"];
  delete secret["stringData"];
  secret["type"] ??= "Opaque";
  if (!isJsonObject(plain)) return;
  const data: JsonObject = isJsonObject(secret["data"]) ? secret["data"] : {};
  for (const [name, text] of Object.entries(plain))
    data[name] = Buffer.from(typeof text === "string" ? text : "").toString("base64");
  secret["data"] = data;
}

/** A pod's spec stays as it was made, but for the images and a few fields that the operator does not touch. */
function changedPodSpec(next: JsonObject, previous: JsonObject): { field: string; why: string } | undefined {
  const fixed = (object: JsonObject): Json => {
    const spec = object["spec"];
    if (!isJsonObject(spec)) return {};
    const { activeDeadlineSeconds: _a, tolerations: _t, schedulingGates: _g, nodeName: _n, ...rest } = spec;
    return {
      ...rest,
      containers: withoutImages(rest["containers"]),
      initContainers: withoutImages(rest["initContainers"]),
    };
  };
  return equalJson(fixed(next), fixed(previous))
    ? undefined
    : { field: "spec", why: "Forbidden: pod updates may not change fields other than the images and tolerations" };
}

function withoutImages(containers: Json | undefined): Json {
  if (!Array.isArray(containers)) return [];
  return containers.map((container) => (isJsonObject(container) ? { ...container, image: "" } : container));
}

function changedClaimSpec(next: JsonObject, previous: JsonObject): { field: string; why: string } | undefined {
  const fixed = (object: JsonObject): Json => {
    const spec = object["spec"];
    if (!isJsonObject(spec)) return {};
    const { resources: _r, volumeName: _v, volumeAttributesClassName: _c, ...rest } = spec;
    return rest;
  };
  return equalJson(fixed(next), fixed(previous))
    ? undefined
    : { field: "spec", why: "Forbidden: spec is immutable after creation except resources.requests" };
}
