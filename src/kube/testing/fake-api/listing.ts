// Lists: which objects a selection holds, and pages of them that all show one and the same moment.
import type { ListOptions, Selection } from "../../client/api.ts";
import { keyText } from "../../objects/objects.ts";
import { isJsonObject, objectAt, textAt, type JsonObject } from "./json.ts";
import { badRequest, expired, fromTheFuture, invalidRequest } from "./refusals.ts";
import type { Resource } from "./resources.ts";
import type { Storage } from "./storage.ts";
import { readLabelSelector } from "../../objects/label-selector.ts";

export interface Listing {
  readonly items: readonly JsonObject[];
  readonly revision: number;
  readonly continue: string | undefined;
}

export function selected(resource: Resource, selection: Selection): Matches {
  const byLabels = labelMatcher(selection.labelSelector);
  const byFields = fieldMatcher(selection.fieldSelector, resource.selectable);
  const { namespace } = selection;
  const everywhere = namespace === undefined || namespace === "" || !resource.namespaced;
  return (object) =>
    (everywhere || textAt(object, "metadata.namespace") === namespace) && byLabels(object) && byFields(object);
}

/** `present` is the revision that a list without a version shows; an older one than the store's is a stale answer. */
export function listPage(storage: Storage, resource: Resource, options: ListOptions, present: number): Listing {
  const matches = selected(resource, options);
  const from = options.continue === undefined || options.continue === "" ? undefined : readToken(options.continue);
  const revision = from?.revision ?? revisionOf(options, present);
  if (!storage.remembers(resource.table, revision)) {
    throw expired("The provided continue parameter or resource version is too old: list again without it");
  }
  const items: JsonObject[] = [];
  let last = "";
  for (const [key, object] of storage.entriesAt(resource.table, revision)) {
    if (from !== undefined && key <= from.after) continue;
    if (!matches(object)) continue;
    if (options.limit !== undefined && options.limit > 0 && items.length === options.limit) {
      return { items, revision, continue: token({ revision, after: last }) };
    }
    items.push(object);
    last = key;
  }
  return { items, revision, continue: undefined };
}

/** Keys in the order in which etcd keeps them. */
export const storageKey = (namespace: string, name: string): string => keyText({ namespace, name });

function revisionOf(options: ListOptions, present: number): number {
  const asked = options.resourceVersion ?? "";
  if (options.resourceVersionMatch !== undefined && asked === "") {
    throw invalidRequest("resourceVersionMatch", "is forbidden unless resourceVersion is provided");
  }
  if (asked === "" || asked === "0") return present;
  const revision = parseRevision(asked);
  if (revision > present) throw fromTheFuture(revision, present);
  return present;
}

function parseRevision(text: string): number {
  if (!/^\d+$/.test(text)) throw badRequest(`invalid resource version "${text}"`);
  return Number(text);
}

interface Position {
  readonly revision: number;
  readonly after: string;
}

const token = (position: Position): string => Buffer.from(JSON.stringify(position)).toString("base64url");

function readToken(text: string): Position {
  try {
    const position: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (isJsonObject(position) && typeof position["revision"] === "number" && typeof position["after"] === "string") {
      return { revision: position["revision"], after: position["after"] };
    }
  } catch {
    // Not a token of ours: refused below.
  }
  throw badRequest("continue key is not valid");
}

// Label and field selectors, as the query parameters of list and watch write them.

export type Matches = (object: JsonObject) => boolean;

function labelMatcher(selector = ""): Matches {
  const matches = readLabelSelector(selector);
  if (matches === undefined) throw badRequest(`unable to parse requirement: ${selector}`);
  return (object) => matches(objectAt(object, "metadata.labels"));
}

const fieldTerm = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;

/** Only the fields that the real server indexes can be selected by; any other is a bad request there too. */
function fieldMatcher(selector: string | undefined, selectable: readonly string[]): Matches {
  const terms = (selector ? selector.split(",") : []).map((text) => {
    const [, path, operator, wanted] = fieldTerm.exec(text.trim()) ?? [];
    if (path === undefined) throw badRequest(`invalid selector: '${text}'; can't understand it`);
    if (!selectable.includes(path)) throw badRequest(`field label not supported: ${path}`);
    return (object: JsonObject): boolean => (textAt(object, path) === wanted) === (operator !== "!=");
  });
  return (object) => terms.every((term) => term(object));
}
