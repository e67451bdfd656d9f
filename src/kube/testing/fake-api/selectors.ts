// Label and field selectors, as the query parameters of list and watch write them.
import { readLabelSelector } from "../../objects/label-selector.ts";
import type { JsonObject } from "./json.ts";
import { objectAt, textAt } from "./json.ts";
import { badRequest } from "./refusals.ts";

export type Matches = (object: JsonObject) => boolean;

export function labelMatcher(selector = ""): Matches {
  const matches = readLabelSelector(selector);
  if (matches === undefined) throw badRequest(`unable to parse requirement: ${selector}`);
  return (object) => matches(objectAt(object, "metadata.labels"));
}

const fieldTerm = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;

/** Only the fields that the real server indexes can be selected by; any other is a bad request there too. */
export function fieldMatcher(selector: string | undefined, selectable: readonly string[]): Matches {
  const terms = (selector ? selector.split(",") : []).map((text) => {
    const [, path, operator, wanted] = fieldTerm.exec(text.trim()) ?? [];
    if (path === undefined) throw badRequest(`invalid selector: '${text}'; can't understand it`);
    if (!selectable.includes(path)) throw badRequest(`field label not supported: ${path}`);
    return (object: JsonObject): boolean => (textAt(object, path) === wanted) === (operator !== "!=");
  });
  return (object) => terms.every((term) => term(object));
}
