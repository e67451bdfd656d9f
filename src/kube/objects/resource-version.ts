// Resource versions of one kind count up like integers, which is what lets a cache say "I have seen that write".
// A server whose versions are not decimal numbers is still served: then only equality can be told.

const decimal = /^(0|[1-9][0-9]*)$/;

/** Negative, zero or positive; undefined when the two cannot be ordered. They may exceed 2^53. */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

export function isOlder(version: string, than: string): boolean {
  const order = compareVersions(version, than);
  return order !== undefined && order < 0;
}

export function isAtLeast(version: string, wanted: string): boolean {
  const order = compareVersions(version, wanted);
  return order !== undefined && order >= 0;
}
