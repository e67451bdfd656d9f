// Label and field selectors, as the query parameters of list and watch write them.
import type { Json, JsonObject } from "./json.ts";
import { textAt, valueAt } from "./json.ts";
import { badRequest } from "./refusals.ts";

export type Matches = (object: JsonObject) => boolean;

const setExpression = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/;
const equalExpression = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;
const existsExpression = /^(!?)\s*([^\s=!(),]+)$/;

export function labelMatcher(selector: string | undefined): Matches {
  const terms = splitOutsideParentheses(selector ?? "").map(labelTerm);
  return (object) => {
    const labels = valueAt(object, "metadata.labels");
    return terms.every((term) => term(labels));
  };
}

function labelTerm(text: string): (labels: Json | undefined) => boolean {
  const label = (labels: Json | undefined, key: string): Json | undefined =>
    typeof labels === "object" && labels !== null && !Array.isArray(labels) ? labels[key] : undefined;
  const [, setKey, word, list] = setExpression.exec(text) ?? [];
  if (setKey !== undefined && list !== undefined) {
    const values = new Set(list.split(",").map((value) => value.trim()));
    const isIn = (value: Json | undefined): boolean => typeof value === "string" && values.has(value);
    return word === "in" ? (labels) => isIn(label(labels, setKey)) : (labels) => !isIn(label(labels, setKey));
  }
  const [, equalKey, operator, wanted] = equalExpression.exec(text) ?? [];
  if (equalKey !== undefined) {
    return operator === "!="
      ? (labels) => label(labels, equalKey) !== wanted
      : (labels) => label(labels, equalKey) === wanted;
  }
  const [, not, key] = existsExpression.exec(text) ?? [];
  if (key === undefined) throw badRequest(`unable to parse requirement: ${text}`);
  return (labels) => (label(labels, key) === undefined) === (not === "!");
}

/** Only the fields that the real server indexes can be selected by; any other is a bad request there too. */
export function fieldMatcher(selector: string | undefined, selectable: readonly string[]): Matches {
  const terms = splitOutsideParentheses(selector ?? "").map((text) => {
    const [, path, operator, wanted] = equalExpression.exec(text) ?? [];
    if (path === undefined) throw badRequest(`invalid selector: '${text}'; can't understand it`);
    if (!selectable.includes(path)) throw badRequest(`field label not supported: ${path}`);
    const negated = operator === "!=";
    return (object: JsonObject): boolean => (textAt(object, path) === wanted) !== negated;
  });
  return (object) => terms.every((term) => term(object));
}

function splitOutsideParentheses(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== "");
}
