// Resources of a running pod that are changed in place (Kubernetes 1.33 and later). Kubernetes can raise and lower CPU
// and memory; it cannot take a limit away, and it fixes the class of service when a pod is made. What it cannot do waits
// for a new pod.
import type { ResourceRequirements } from "kubernetes-types/core/v1.js";
import { amountOf } from "../../api/etcd-cluster/resource-problems.ts";

type Amounts = Readonly<Record<string, string | number>>;

const resizable = ["cpu", "memory"] as const;

/** What the pod would have after the change; undefined when there is nothing to change, or nothing that can be. */
export function resized(
  there: ResourceRequirements = {},
  wanted: ResourceRequirements = {},
): ResourceRequirements | undefined {
  const limits = changed(there.limits, wanted.limits);
  // A limit without a request is both: so the API server fills it in.
  const requests = changed(there.requests, { ...wanted.limits, ...wanted.requests });
  if (limits === undefined && requests === undefined) return undefined;
  const after: ResourceRequirements = {
    ...there,
    limits: { ...there.limits, ...limits },
    requests: { ...there.requests, ...requests },
  };
  return classOf(after) === classOf(there) ? after : undefined;
}

/** It has all that is wanted, whoever gave it. */
export function hasAll(there: ResourceRequirements = {}, wanted: ResourceRequirements = {}): boolean {
  const isThere = (has: Amounts = {}, asked: Amounts = {}): boolean =>
    Object.entries(asked).every(([name, amount]) => isSame(has[name], amount));
  return isThere(there.limits, wanted.limits) && isThere(there.requests, wanted.requests);
}

/** What has been asked for by now. What is no longer asked for stays in it: Kubernetes takes nothing away. */
export function askedFor(before: ResourceRequirements = {}, wanted: ResourceRequirements = {}): ResourceRequirements {
  return {
    ...before,
    ...wanted,
    limits: { ...before.limits, ...wanted.limits },
    requests: { ...before.requests, ...wanted.requests },
  };
}

/** Every limit and request of `before` is in it, in whatever amount: Kubernetes takes none away. */
export function hasAllNames(after: ResourceRequirements = {}, before: ResourceRequirements = {}): boolean {
  const isThere = (has: Amounts = {}, had: Amounts = {}): boolean =>
    Object.keys(had).every((name) => has[name] !== undefined);
  return isThere(after.limits, before.limits) && isThere({ ...after.limits, ...after.requests }, before.requests);
}

/** The wanted amounts that differ. What is there and not asked for may be a default of the namespace, and stays. */
function changed(there: Amounts = {}, wanted: Amounts = {}): Record<string, string> | undefined {
  const differing = resizable.flatMap((name) => {
    const amount = wanted[name];
    return amount === undefined || isSame(there[name], amount) ? [] : [[name, String(amount)] as const];
  });
  return differing.length === 0 ? undefined : Object.fromEntries(differing);
}

/** The API server writes 0.7 as 700m. */
function isSame(a: string | number | undefined, b: string | number | undefined): boolean {
  const [x, y] = [amountOf(a), amountOf(b)];
  if (x === undefined || y === undefined) return x === y;
  return Math.abs(x - y) <= 1e-9 * Math.max(Math.abs(x), Math.abs(y));
}

/** As Kubernetes does it: equal limits and requests for both, anything at all, or nothing. */
function classOf({ limits = {}, requests = {} }: ResourceRequirements): "Guaranteed" | "Burstable" | "BestEffort" {
  if (!resizable.some((name) => requests[name] !== undefined || limits[name] !== undefined)) return "BestEffort";
  const isGuaranteed = (name: string): boolean =>
    limits[name] !== undefined && isSame(limits[name], requests[name] ?? limits[name]);
  return resizable.every(isGuaranteed) ? "Guaranteed" : "Burstable";
}
