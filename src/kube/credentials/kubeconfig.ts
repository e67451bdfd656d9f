// Credentials from a kubeconfig. What is not supported is refused with a sentence rather than ignored:
// a request that went around someone's proxy, or under another name, would be worse than none.
import type { TlsOptions } from "../../transport/origin.ts";
import { type Credentials, CredentialsError, type Impersonation } from "./credentials.ts";
import { ExecPlugin } from "./exec-plugin.ts";
import { FreshFile } from "./fresh-file.ts";
import { type Kubeconfig, readKubeconfig, type Section } from "./kubeconfig-file.ts";

const refusals: readonly { field: string; because: string }[] = [
  { field: "proxy-url", because: "proxies are not supported: reach the server directly" },
  { field: "auth-provider", because: "auth-provider was removed from Kubernetes: use an exec plugin" },
  { field: "username", because: "passwords were removed from Kubernetes: use a token or a certificate" },
];

interface Choice {
  /** Absent: the current one. */
  readonly context?: string;
  /** Goes before what the kubeconfig says of the user. */
  readonly impersonation?: Impersonation;
}

export function kubeconfigCredentials(paths: string, choice: Choice = {}): Credentials {
  const config = readKubeconfig(paths);
  const context = contextOf(config, paths, choice.context);
  const cluster = pick(config.clusters, context.text("cluster") ?? "", "cluster", paths);
  const user = pick(config.users, context.text("user") ?? "", "user", paths);
  refuseUnsupported(cluster);
  refuseUnsupported(user);
  return new KubeconfigCredentials(cluster, user, choice.impersonation ?? impersonationIn(user));
}

/** The namespace that a context works in; undefined: it names none. */
export function namespaceOf(paths: string, choice: Pick<Choice, "context"> = {}): string | undefined {
  return contextOf(readKubeconfig(paths), paths, choice.context).text("namespace");
}

/** The name of the context that is chosen. */
export function contextNameOf(paths: string, choice: Pick<Choice, "context"> = {}): string {
  const name = choice.context ?? readKubeconfig(paths).currentContext;
  if (name === undefined) throw new CredentialsError(`${paths} has no current-context: set one`);
  return name;
}

function contextOf(config: Kubeconfig, paths: string, chosen: string | undefined): Section {
  const name = chosen ?? config.currentContext;
  if (name === undefined) throw new CredentialsError(`${paths} has no current-context: set one`);
  return pick(config.contexts, name, "context", paths);
}

function impersonationIn(user: Section): Impersonation | undefined {
  const name = user.text("as");
  const uid = user.text("as-uid");
  const groups = user.list("as-groups").filter((group) => typeof group === "string");
  if (name !== undefined) return { user: name, groups, ...(uid !== undefined && { uid }) };
  if (uid === undefined && groups.length === 0) return undefined;
  throw new CredentialsError(`${user.where}: as-uid and as-groups need as: name the user, too`);
}

function pick(sections: ReadonlyMap<string, Section>, name: string, what: string, paths: string): Section {
  const section = sections.get(name);
  if (section) return section;
  const known = [...sections.keys()].join(", ") || "none";
  throw new CredentialsError(`${paths} has no ${what} "${name}"; it has: ${known}`);
}

function refuseUnsupported(section: Section): void {
  for (const { field, because } of refusals) {
    if (section.has(field)) throw new CredentialsError(`${section.where}: ${field} is set, and ${because}`);
  }
}

/** A value in the kubeconfig itself, or in a file that it names, which is read again when it changes. */
type ValueSource = { t: "inline"; value: string } | { t: "file"; file: FreshFile } | { t: "absent" };

function sourceOf(section: Section, dataField: string, fileField: string): ValueSource {
  const data = section.text(dataField);
  if (data !== undefined) return { t: "inline", value: Buffer.from(data, "base64").toString("utf8") };
  const path = section.path(fileField);
  return path === undefined ? { t: "absent" } : { t: "file", file: new FreshFile(path) };
}

function tokenOf(user: Section): ValueSource {
  const path = user.path("tokenFile");
  if (path !== undefined) return { t: "file", file: new FreshFile(path) };
  const value = user.text("token");
  return value === undefined ? { t: "absent" } : { t: "inline", value };
}

function valueOf(source: ValueSource): string | undefined {
  if (source.t === "file") return source.file.read();
  return source.t === "inline" ? source.value : undefined;
}

class KubeconfigCredentials implements Credentials {
  readonly server: string;
  readonly impersonation?: Impersonation;
  readonly #ca: ValueSource;
  readonly #cert: ValueSource;
  readonly #key: ValueSource;
  readonly #token: ValueSource;
  readonly #plugin: ExecPlugin | undefined;
  readonly #insecure: boolean;
  readonly #serverName: string | undefined;

  constructor(cluster: Section, user: Section, impersonation: Impersonation | undefined) {
    const server = cluster.text("server");
    if (server === undefined || !URL.canParse(server)) {
      throw new CredentialsError(`${cluster.where}: server must be a URL`);
    }
    this.server = server;
    if (impersonation !== undefined) this.impersonation = impersonation;
    this.#insecure = cluster.flag("insecure-skip-tls-verify");
    this.#serverName = cluster.text("tls-server-name");
    this.#ca = sourceOf(cluster, "certificate-authority-data", "certificate-authority");
    this.#cert = sourceOf(user, "client-certificate-data", "client-certificate");
    this.#key = sourceOf(user, "client-key-data", "client-key");
    this.#token = tokenOf(user);
    const exec = user.section("exec");
    this.#plugin = exec ? new ExecPlugin(exec, () => this.#clusterInfo()) : undefined;
  }

  /** What a plugin gets of the cluster when it asks for it. */
  #clusterInfo(): object {
    const ca = valueOf(this.#ca);
    return {
      server: this.server,
      ...(ca !== undefined && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
      ...(this.#serverName !== undefined && { "tls-server-name": this.#serverName }),
      ...(this.#insecure && { "insecure-skip-tls-verify": true }),
    };
  }

  async tls(): Promise<TlsOptions> {
    const ca = valueOf(this.#ca);
    const fromPlugin = this.#usesPlugin() ? await this.#plugin?.credential() : undefined;
    const cert = fromPlugin?.cert ?? valueOf(this.#cert);
    const key = fromPlugin?.key ?? valueOf(this.#key);
    return {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(this.#serverName === undefined ? {} : { servername: this.#serverName }),
      ...(this.#insecure ? { rejectUnauthorized: false } : {}),
    };
  }

  async authorization(): Promise<string | undefined> {
    const token = valueOf(this.#token) ?? (this.#usesPlugin() ? (await this.#plugin?.credential())?.token : undefined);
    return token === undefined ? undefined : `Bearer ${token.trim()}`;
  }

  forget(): void {
    this.#plugin?.forget();
    for (const source of [this.#ca, this.#cert, this.#key, this.#token]) {
      if (source.t === "file") source.file.forget();
    }
  }

  /** What the kubeconfig itself holds goes before a plugin, which may ask the user something. */
  #usesPlugin(): boolean {
    return this.#token.t === "absent" && this.#cert.t === "absent";
  }
}
