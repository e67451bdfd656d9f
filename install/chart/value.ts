// How a value of the chart is described: its default, what it may be, and a sentence. values.yaml, values.schema.json and
// the table in the chart's README are made from such descriptions.

export type Value =
  | { readonly t: "text"; readonly says: string; readonly otherwise: string; readonly oneOf?: readonly string[] }
  | { readonly t: "truth"; readonly says: string; readonly otherwise: boolean }
  | { readonly t: "number"; readonly says: string; readonly otherwise: number; readonly least: number }
  /** A number or a percentage, as in 1 or 50%; without a default it is left out. */
  | { readonly t: "amount"; readonly says: string; readonly otherwise?: number }
  | { readonly t: "texts"; readonly says: string; readonly otherwise: readonly string[] }
  /** Names to strings: labels and the like. */
  | { readonly t: "labels"; readonly says: string; readonly otherwise: Readonly<Record<string, string>> }
  /** Something of Kubernetes that is passed on as it is, and checked by the API server. */
  | { readonly t: "object"; readonly says: string; readonly otherwise: object }
  | { readonly t: "objects"; readonly says: string; readonly otherwise: readonly object[] }
  | { readonly t: "group"; readonly says: string; readonly fields: Fields };

export type Fields = Readonly<Record<string, Value>>;

export const text = (says: string, otherwise = "", oneOf?: readonly string[]): Value => ({
  t: "text",
  says,
  otherwise,
  ...(oneOf !== undefined && { oneOf }),
});
export const truth = (otherwise: boolean, says: string): Value => ({ t: "truth", says, otherwise });
export const number = (says: string, otherwise: number, least: number): Value => ({
  t: "number",
  says,
  otherwise,
  least,
});
export const amount = (says: string, otherwise?: number): Value => ({
  t: "amount",
  says,
  ...(otherwise !== undefined && { otherwise }),
});
export const texts = (says: string): Value => ({ t: "texts", says, otherwise: [] });
export const labels = (says: string, otherwise: Readonly<Record<string, string>> = {}): Value => ({
  t: "labels",
  says,
  otherwise,
});
export const object = (says: string, otherwise: object = {}): Value => ({ t: "object", says, otherwise });
export const objects = (says: string): Value => ({ t: "objects", says, otherwise: [] });
export const group = (says: string, fields: Fields): Value => ({ t: "group", says, fields });

/** Every value with its path, as in image.tag. */
export function flatten(fields: Fields, above = ""): { path: string; value: Exclude<Value, { t: "group" }> }[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value.t === "group" ? flatten(value.fields, `${above}${name}.`) : [{ path: above + name, value }],
  );
}
