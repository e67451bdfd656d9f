// Checks requests and limits. Kubernetes refuses a pod with an invalid quantity without naming the field; we name it.
import type { ResourceRequirements } from "kubernetes-types/core/v1.js";
import { isJsonObject } from "../schema/complete.ts";

const quantity = /^([+-]?)(\d+\.?\d*|\.\d+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;

const powers: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Undefined when it is not a quantity. Exact enough to compare two. */
export function amountOf(value: unknown): number | undefined {
  // A manifest may say `cpu: 2` without quotes.
  const found = quantity.exec(typeof value === "number" ? String(value) : typeof value === "string" ? value : "");
  if (found === null) return undefined;
  const [, sign, digits, suffix, exponent] = found;
  const size = Number(digits) * (suffix === undefined ? 10 ** Number(exponent ?? 0) : (powers[suffix] ?? 1));
  return sign === "-" ? -size : size;
}

export function resourceProblems(path: string, resources: ResourceRequirements): string[] {
  const requests = amounts(resources.requests);
  const limits = amounts(resources.limits);
  return [
    ...unreadable(`${path}.requests`, requests),
    ...unreadable(`${path}.limits`, limits),
    ...[...requests].flatMap(([name, request]) => {
      const limit = limits.get(name);
      if (request.amount === undefined || limit?.amount === undefined || request.amount <= limit.amount) return [];
      return [
        `${path}.requests.${name} is ${request.text}, which is more than ${path}.limits.${name} (${limit.text}): lower the request or raise the limit.`,
      ];
    }),
  ];
}

interface Amount {
  readonly text: string;
  readonly amount: number | undefined;
}

/** Takes any JSON: people write what they like, whatever the types say. */
function amounts(given: unknown): ReadonlyMap<string, Amount> {
  if (!isJsonObject(given)) return new Map();
  return new Map(
    Object.entries(given).map(([name, value]) => [
      name,
      { text: typeof value === "string" ? value : JSON.stringify(value), amount: amountOf(value) },
    ]),
  );
}

function unreadable(path: string, amounts: ReadonlyMap<string, Amount>): string[] {
  return [...amounts].flatMap(([name, { text, amount }]) => {
    if (amount === undefined)
      return [
        `${path}.${name} is "${text}", which is not a valid quantity: use a value such as 500m (half a core) or 2Gi.`,
      ];
    return amount < 0 ? [`${path}.${name} is ${text}: it must not be negative.`] : [];
  });
}
