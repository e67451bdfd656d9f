// The JSON merge patch that turns one value into another.
import { isDeepStrictEqual } from "node:util";

type JsonMap = Readonly<Record<string, unknown>>;

/** Undefined when there is nothing to write. A field that is null is as good as none: Go clients write it for absent times. */
export function mergePatchBetween(before: object, after: object): Record<string, unknown> | undefined {
  const [old, fresh] = [entriesOf(before), entriesOf(after)];
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    const [was, is] = [old.get(name), fresh.get(name)];
    if (isDeepStrictEqual(was, is)) continue;
    const value = isMap(was) && isMap(is) ? mergePatchBetween(was, is) : (is ?? null);
    if (value !== undefined) patch[name] = value;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

const entriesOf = (value: object): Map<string, unknown> =>
  new Map(Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined));

const isMap = (value: unknown): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value);
