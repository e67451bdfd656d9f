// Reads kubeconfig files and merges several into one, as kubectl does: what a file says first, later ones do not
// change. Everything is checked here, so that the rest may trust the types.
import { readFileSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { parse } from "yaml";
import { codeOf } from "../../transport/failures.ts";
import { CredentialsError } from "./credentials.ts";
import { isFields } from "../client/status.ts";

/** One cluster or user, with the folder that its relative paths start from. */
export class Section {
  readonly where: string;
  readonly folder: string;
  readonly #fields: Record<string, unknown>;

  constructor(where: string, folder: string, fields: Record<string, unknown>) {
    this.where = where;
    this.folder = folder;
    this.#fields = fields;
  }

  has(name: string): boolean {
    const value = this.#fields[name];
    return value !== undefined && value !== null && value !== "";
  }

  text(name: string): string | undefined {
    const value = this.#fields[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") throw new CredentialsError(`${this.where}: ${name} must be a string`);
    return value;
  }

  flag(name: string): boolean {
    const value = this.#fields[name];
    if (value === undefined || value === null) return false;
    if (typeof value !== "boolean") throw new CredentialsError(`${this.where}: ${name} must be true or false`);
    return value;
  }

  path(name: string): string | undefined {
    const value = this.text(name);
    return value === undefined || isAbsolute(value) ? value : join(this.folder, value);
  }

  section(name: string): Section | undefined {
    const value = this.#fields[name];
    return isFields(value) ? new Section(`${this.where}, ${name}`, this.folder, value) : undefined;
  }

  list(name: string): unknown[] {
    const value = this.#fields[name];
    return Array.isArray(value) ? value : [];
  }
}

export interface Kubeconfig {
  currentContext: string | undefined;
  contexts: ReadonlyMap<string, Section>;
  clusters: ReadonlyMap<string, Section>;
  users: ReadonlyMap<string, Section>;
}

/** `paths` is a file, or several separated as in PATH; files that do not exist are passed over if one does. */
export function readKubeconfig(paths: string): Kubeconfig {
  const contexts = new Map<string, Section>();
  const clusters = new Map<string, Section>();
  const users = new Map<string, Section>();
  let currentContext: string | undefined;
  let found = 0;
  for (const path of paths.split(delimiter)) {
    const file = path === "" ? undefined : readFile(path);
    if (!file) continue;
    found += 1;
    currentContext ??= file.text("current-context");
    collect(contexts, file, "contexts", "context");
    collect(clusters, file, "clusters", "cluster");
    collect(users, file, "users", "user");
  }
  if (found === 0) throw new CredentialsError(`no kubeconfig at ${paths}`);
  return { currentContext, contexts, clusters, users };
}

function readFile(path: string): Section | undefined {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new CredentialsError(`the kubeconfig ${path} cannot be read`, error);
  }
  let fields: unknown;
  try {
    fields = parse(content);
  } catch (error) {
    throw new CredentialsError(`the kubeconfig ${path} is not YAML`, error);
  }
  return new Section(path, dirname(path), isFields(fields) ? fields : {});
}

function collect(into: Map<string, Section>, file: Section, list: string, field: string): void {
  for (const entry of file.list(list)) {
    if (!isFields(entry)) continue;
    const name = entry["name"];
    const content = entry[field];
    if (typeof name !== "string" || !isFields(content) || into.has(name)) continue;
    into.set(name, new Section(`${file.where}, ${field} ${name}`, file.folder, content));
  }
}
