// Cached objects are shared by everybody who reads the cache, so a change to one must fail where it is made.

/** Freezes a tree of plain data in place. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
