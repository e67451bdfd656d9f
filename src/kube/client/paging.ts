// Walks a list that is too long for one answer, page by page. All pages show the same moment, the first page's.
import type { KubeApi, ListOptions, Page } from "./api.ts";
import type { Kind, KubeObject } from "../objects/objects.ts";

const usualPage = 500;

export async function* pages<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  options: ListOptions = {},
): AsyncGenerator<Page<T>, void, undefined> {
  let page = await api.list(kind, { limit: usualPage, ...options });
  yield page;
  // Only the first request may name a version: the token of the next page already holds it.
  const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options;
  while (page.continue !== undefined) {
    page = await api.list(kind, { limit: usualPage, ...rest, continue: page.continue });
    yield page;
  }
}

/** All pages as one. For lists that are known to be short; a walk keeps less in memory. */
export async function listAll<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  options: ListOptions = {},
): Promise<{ items: T[]; resourceVersion: string }> {
  const items: T[] = [];
  let resourceVersion = "";
  for await (const page of pages(api, kind, options)) {
    items.push(...page.items);
    resourceVersion = page.resourceVersion;
  }
  return { items, resourceVersion };
}
