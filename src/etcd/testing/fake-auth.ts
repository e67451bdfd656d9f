// The users of an in-memory etcd cluster, and what its members refuse whom: as real servers do, by what login.ts says.
import { EtcdError } from "../errors.ts";
import type { Login } from "../login.ts";
import { has } from "../versions/features.ts";
import type { EtcdVersion } from "../versions/version.ts";

interface User {
  readonly password: string;
  readonly roles: readonly string[];
}

/** Who asks whom for what. */
interface Asking {
  readonly method: string;
  readonly login: Login | undefined;
  readonly server: { readonly version: EtcdVersion; readonly learner: boolean; readonly hasQuorum: boolean };
}

/** What servers without that check let everybody do. */
const readsOfStatus: ReadonlySet<string> = new Set(["Status", "MemberList", "Alarm", "MoveLeader", "Downgrade"]);

export class FakeAuth {
  readonly #users = new Map<string, User>();
  /** With the password that it was good for. */
  readonly #tokens = new WeakMap<Login, string>();
  #isOn = false;

  setUser({ username, password }: Login, roles: readonly string[]): void {
    this.#users.set(username, { password, roles: [...(this.#users.get(username)?.roles ?? []), ...roles] });
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  enable(): void {
    this.#isOn = true;
  }

  disable(): void {
    this.#isOn = false;
  }

  /** Throws what the server would say to somebody that it does not let do this. */
  check(asking: Asking): void {
    const { method, login, server } = asking;
    if (!this.#isOn || (readsOfStatus.has(method) && !has(server.version, "statusNeedsLogin"))) return;
    if (login === undefined) throw refusal("authRequired", method, "user name is empty");
    const token = this.#tokens.get(login);
    if (token === undefined || token !== this.#users.get(login.username)?.password) this.#logIn(login, server);
  }

  #logIn(login: Login, { learner, hasQuorum }: Asking["server"]): void {
    if (learner) throw refusal("notServedByLearner", "Authenticate", "rpc not supported for learner");
    const user = this.#users.get(login.username);
    if (user?.password !== login.password)
      throw refusal("wrongPassword", "Authenticate", "authentication failed, invalid user ID or password");
    if (!hasQuorum) throw refusal("timeout", "Authenticate", "request timed out");
    if (!user.roles.includes("root"))
      throw refusal("notRoot", "UserGet", `${login.username} does not have the role root`);
    this.#tokens.set(login, user.password);
  }
}

function refusal(reason: EtcdError["reason"], method: string, message: string): EtcdError {
  return new EtcdError(reason, method, `etcdserver: ${message}`);
}
