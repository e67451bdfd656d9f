// Optional fields of an object: with exact types a field is absent, and never there with the value undefined.

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Only those that have a value. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
