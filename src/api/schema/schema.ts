// A kind of object is described once, with these builders. From that one description come its TypeScript types (here),
// its schema for the API server (`openapi.ts`), its defaults (`complete.ts`), its checks (`check.ts`) and its page of
// the reference (`reference.ts`).

/** Whether a field must be set, may be left out, or gets a default when it is left out. */
type Presence = "required" | "optional" | "defaulted";

/** One field. `Stored` is what the API server may hold, `Complete` is the same with every default filled in. */
export interface Schema<Stored = unknown, Complete = unknown, P extends Presence = Presence> {
  readonly shape: Shape;
  readonly description: string;
  readonly presence: P;
  /** Filled in by the operator in memory and named in the description; never written into the stored object. */
  readonly default?: Complete;
  readonly rules: readonly Rule<Complete>[];
  /** Never set: these only carry the types. */
  readonly stored?: Stored;
  readonly complete?: Complete;
}

/** The JSON that is expected, as data. Everything made from a schema is a walk over these. */
export type Shape =
  | {
      readonly t: "string";
      readonly longest: number | undefined;
      readonly oneOf: readonly string[] | undefined;
      readonly format: "date-time" | undefined;
    }
  | {
      readonly t: "integer";
      readonly min: number | undefined;
      readonly max: number | undefined;
      /** What the API server writes into an object that lacks the field's object, and what counts as left out. */
      readonly unwritten: number | undefined;
    }
  | { readonly t: "boolean" }
  | { readonly t: "array"; readonly items: Schema; readonly most: number | undefined; readonly key: string | undefined }
  | { readonly t: "map"; readonly values: Schema; readonly most: number | undefined }
  | { readonly t: "object"; readonly fields: Fields }
  /** A type of Kubernetes: passed on as it is, and checked where it is used. */
  | {
      readonly t: "embedded";
      readonly type: "object" | "array";
      readonly name: string;
      /** False where `{}` means something else than leaving the field out, as in `affinity: {}`. */
      readonly emptyIsAbsent: boolean;
    }
  /** A field of an old release: accepted, whatever it is, and dropped. */
  | { readonly t: "ignored" };

/** `says` names the problem and what to do. With `cel` the API server refuses the object with the same sentence. */
export interface Rule<T> {
  readonly says: string;
  /** Must accept empty strings, which Go clients send for fields that nobody set. */
  readonly cel?: string;
  holds(value: T): boolean;
}

export type Fields = Readonly<Record<string, Schema>>;

type With<F extends Fields, P extends Presence> = { [K in keyof F]: F[K]["presence"] extends P ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };
export type StoredOf<S extends Schema> = NonNullable<S["stored"]>;
export type CompleteOf<S extends Schema> = NonNullable<S["complete"]>;

type StoredFields<F extends Fields> = Flat<
  { readonly [K in With<F, "required">]: StoredOf<F[K]> } & {
    readonly [K in With<F, "optional" | "defaulted">]?: StoredOf<F[K]>;
  }
>;
type CompleteFields<F extends Fields> = Flat<
  { readonly [K in With<F, "required" | "defaulted">]: CompleteOf<F[K]> } & {
    readonly [K in With<F, "optional">]?: CompleteOf<F[K]>;
  }
>;

interface Extras<T> {
  readonly rules?: readonly Rule<T>[];
}

function field<Stored, Complete>(
  description: string,
  shape: Shape,
  rules: readonly Rule<Complete>[] = [],
): Schema<Stored, Complete, "optional"> {
  return { shape, description, presence: "optional", rules };
}

/** `instead` is used when the field is missing all the same, so that no code meets undefined; `check.ts` reports it. */
export function required<S, C>(instead: C, schema: Schema<S, C, "optional">): Schema<S, C, "required"> {
  return { ...schema, presence: "required", default: instead };
}

export function defaulted<S, C>(value: C, schema: Schema<S, C, "optional">): Schema<S, C, "defaulted"> {
  return { ...schema, presence: "defaulted", default: value };
}

/** For objects: left out means empty, so that its fields get their defaults. */
export function filled<S, C>(schema: Schema<S, C, "optional">): Schema<S, C, "defaulted"> {
  return { ...schema, presence: "defaulted" };
}

export function string(
  description: string,
  extras: Extras<string> & { longest?: number; format?: "date-time" } = {},
): Schema<string, string, "optional"> {
  const { longest, format, rules } = extras;
  return field(description, { t: "string", longest, oneOf: undefined, format }, rules);
}

export function oneOf<const T extends string>(description: string, values: readonly T[]): Schema<T, T, "optional"> {
  return field(description, { t: "string", longest: undefined, oneOf: values, format: undefined });
}

export function integer(
  description: string,
  extras: Extras<number> & { min?: number; max?: number } = {},
): Schema<number, number, "optional"> {
  return field(description, { t: "integer", min: extras.min, max: extras.max, unwritten: undefined }, extras.rules);
}

/** Programs that wait take an object without a status for one that is ready; with -1 it is one that nobody has seen yet. */
export function observedGeneration(description: string): Schema<number, number, "optional"> {
  return field(description, { t: "integer", min: undefined, max: undefined, unwritten: -1 });
}

export function boolean(description: string, extras: Extras<boolean> = {}): Schema<boolean, boolean, "optional"> {
  return field(description, { t: "boolean" }, extras.rules);
}

/** With `key`, that field identifies an entry, and server-side apply tracks owners entry by entry. */
export function array<S, C>(
  description: string,
  items: Schema<S, C>,
  extras: Extras<readonly C[]> & { most?: number; key?: string } = {},
): Schema<readonly S[], readonly C[], "optional"> {
  return field(description, { t: "array", items, most: extras.most, key: extras.key }, extras.rules);
}

export function map<S, C>(
  description: string,
  values: Schema<S, C>,
  extras: Extras<Readonly<Record<string, C>>> & { most?: number } = {},
): Schema<Readonly<Record<string, S>>, Readonly<Record<string, C>>, "optional"> {
  return field(description, { t: "map", values, most: extras.most }, extras.rules);
}

export function object<F extends Fields>(
  description: string,
  fields: F,
  extras: Extras<CompleteFields<F>> = {},
): Schema<StoredFields<F>, CompleteFields<F>, "optional"> {
  return field(description, { t: "object", fields }, extras.rules);
}

/** `T` is the type of Kubernetes, `name` its name in the Kubernetes documentation. */
export function embedded<T extends object>(
  description: string,
  name: string,
  extras: Extras<T> & { emptyIsAbsent?: true } = {},
): Schema<T, T, "optional"> {
  const emptyIsAbsent = extras.emptyIsAbsent ?? false;
  return field(description, { t: "embedded", type: "object", name, emptyIsAbsent }, extras.rules);
}

export function embeddedList<T extends object>(
  description: string,
  name: string,
  extras: Extras<T[]> = {},
): Schema<T[], T[], "optional"> {
  return field(description, { t: "embedded", type: "array", name, emptyIsAbsent: true }, extras.rules);
}

/** The type is `never`: no code reads such a field. */
export function ignored(description: string): Schema<never, never, "optional"> {
  return field(description, { t: "ignored" });
}
