// The scale subresource: a small view of an object whose replica count lives at a path that its kind names.
import type { JsonObject } from "./json.ts";
import { copyObject, isJsonObject, setAt, textAt, valueAt } from "./json.ts";

/** As in a CustomResourceDefinition: `.spec.size`. */
export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

const steps = (path: string): string => path.replace(/^\./, "");
const countAt = (object: JsonObject, path: string): number => Number(valueAt(object, steps(path)) ?? 0);

export function scaleOf(object: JsonObject, paths: ScalePaths): JsonObject {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const kept: JsonObject = {};
  for (const field of ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"]) {
    const value = metadata[field];
    if (value !== undefined) kept[field] = value;
  }
  const count = countAt(object, paths.specReplicasPath);
  const status: JsonObject = { replicas: countAt(object, paths.statusReplicasPath) };
  if (paths.labelSelectorPath !== undefined) {
    const selector = textAt(object, steps(paths.labelSelectorPath));
    if (selector !== "") status["selector"] = selector;
  }
  return {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: kept,
    // Zero is left out, as the real server does.
    spec: count === 0 ? {} : { replicas: count },
    status,
  };
}

/** The object with the replica count of the scale; everything else in the scale is only for reading. */
export function withScale(object: JsonObject, scale: JsonObject, paths: ScalePaths): JsonObject {
  const next = copyObject(object);
  setAt(next, steps(paths.specReplicasPath), valueAt(scale, "spec.replicas") ?? 0);
  return next;
}
