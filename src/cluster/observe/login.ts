// Whom the operator logs in as at the members of a cluster: the user in the Secret that spec.auth.operatorSecret names.
// It is read when it is first needed, and again when etcd refuses, from the watch of that Secret: a change of it is heard of,
// and a cluster at rest costs no requests.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { EtcdReason } from "../../etcd/errors.ts";
import { Login } from "../../etcd/login.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { ApiError, isForbidden } from "../../kube/client/errors.ts";
import { type Key, keyOf, keyText } from "../../kube/objects/objects.ts";
import { TransportError } from "../../transport/errors.ts";
import type { ClusterCaches } from "../context.ts";
import type { AccessTrouble } from "./world.ts";

/** What is known of the Secret. */
export type LoginSource =
  /** The spec names none. */
  | { readonly t: "none" }
  | { readonly t: "given"; readonly secret: string; readonly login: Login }
  | { readonly t: "unusable"; readonly secret: string; readonly trouble: AccessTrouble };

interface Known {
  readonly secret: string;
  readonly source: LoginSource;
  readonly readAt: number;
}

interface Reading {
  readonly given: ClusterCaches["given"];
  readonly api: KubeApi;
  readonly signal: AbortSignal;
}

/** Milliseconds between two reads of a Secret whose login etcd refuses. */
const readAgainAfter = 5000;

const none: LoginSource = { t: "none" };

export class Logins {
  readonly #now: () => number;
  /** By namespace and name of the cluster; only of those that name a Secret. */
  readonly #known = new Map<string, Known>();

  constructor(now: () => number) {
    this.#now = now;
  }

  async of(cluster: CompleteEtcdCluster, reading: Reading): Promise<LoginSource> {
    const secret = secretOf(cluster);
    if (secret === undefined) {
      this.forget(keyOf(cluster));
      return none;
    }
    const known = this.#known.get(keyText(keyOf(cluster)));
    return known?.secret === secret ? known.source : this.#read(cluster, secret, reading);
  }

  known(cluster: CompleteEtcdCluster): Login | undefined {
    const source = this.#known.get(keyText(keyOf(cluster)))?.source;
    return source?.t === "given" && source.secret === secretOf(cluster) ? source.login : undefined;
  }

  /** After etcd refused: true when the Secret holds another login by now. */
  async hasChanged(cluster: CompleteEtcdCluster, reading: Reading): Promise<boolean> {
    const before = this.#known.get(keyText(keyOf(cluster)));
    if (before === undefined || this.#now() - before.readAt < readAgainAfter) return false;
    const after = await this.#read(cluster, before.secret, reading);
    return after !== before.source && after.t === "given";
  }

  forget(key: Key): void {
    this.#known.delete(keyText(key));
  }

  async #read(cluster: CompleteEtcdCluster, secret: string, { given, api, signal }: Reading): Promise<LoginSource> {
    const key = keyText(keyOf(cluster));
    const { namespace } = cluster.metadata;
    const read = await given.read({ namespace, name: secret }, api, signal).then(
      (found): LoginSource =>
        found === undefined
          ? { t: "unusable", secret, trouble: { t: "secretMissing", secret } }
          : sourceIn(secret, found.data ?? {}),
      (error: unknown): LoginSource => ({ t: "unusable", secret, trouble: troubleOf(error, secret) }),
    );
    const before = this.#known.get(key)?.source;
    // The same object stands for the tokens that it has brought.
    const source = before?.t === "given" && read.t === "given" && before.login.isSame(read.login) ? before : read;
    this.#known.set(key, { secret, source, readAt: this.#now() });
    return source;
  }
}

/** Clients of other languages send empty strings, too. */
function secretOf({ spec: { auth } }: CompleteEtcdCluster): string | undefined {
  const name = auth?.operatorSecret ?? "";
  return name === "" ? undefined : name;
}

/** A field of a Secret with a login, empty if there is none. Many a Secret is made with echo, which adds a line end. */
export const loginField = (data: Readonly<Record<string, string>>, field: "username" | "password"): string =>
  Buffer.from(data[field] ?? "", "base64")
    .toString()
    .replace(/\r?\n$/, "");

function sourceIn(secret: string, data: Readonly<Record<string, string>>): LoginSource {
  const [username, password] = [loginField(data, "username"), loginField(data, "password")];
  if (username && password) return { t: "given", secret, login: new Login(username, password) };
  const lacks = [...(username ? [] : ["username"]), ...(password ? [] : ["password"])];
  return { t: "unusable", secret, trouble: { t: "secretIncomplete", secret, lacks } };
}

/** The Secret may not be needed at all, so that it cannot be read is no reason to stop here. */
function troubleOf(error: unknown, secret: string): AccessTrouble {
  if (isForbidden(error)) return { t: "secretForbidden", secret };
  if (error instanceof ApiError || error instanceof TransportError) return { t: "secretUnread", secret };
  throw error;
}

/** What keeps the operator out, by what etcd said and what the operator has to show. */
export function troubleWith(source: LoginSource, reason: EtcdReason): AccessTrouble {
  if (source.t === "unusable") return source.trouble;
  if (source.t === "none") return { t: reason === "permissionDenied" ? "certificateDenied" : "noLogin" };
  const { secret } = source;
  if (reason === "wrongPassword") return { t: "wrongPassword", secret };
  return reason === "notRoot" || reason === "permissionDenied"
    ? { t: "notRoot", secret }
    : { t: "tokenRefused", secret };
}
