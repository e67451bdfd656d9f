// Administers the users of a real etcd, which is nothing that the operator does.
import { EtcdError } from "../../src/etcd/errors.ts";
import { Auth } from "../../src/etcd/gen/etcdserverpb/rpc_pb.ts";
import { type Carrier, unary, withToken } from "../../src/etcd/grpc.ts";
import type { Login } from "../../src/etcd/login.ts";

const within = { deadline: 120_000 };

export class AuthAdmin {
  readonly #carrier: Carrier;
  #by: Login | undefined;

  constructor(carrier: Carrier) {
    this.#carrier = carrier;
  }

  async setUser(login: Login, roles: readonly string[]): Promise<void> {
    const { username, password } = login;
    const user = { name: username, password };
    const before = await this.#loggedIn();
    await unary(before, Auth.method.userAdd, user, within).catch(() =>
      unary(before, Auth.method.userChangePassword, user, within),
    );
    if (this.#by?.username === username) this.#by = login;
    const carrier = await this.#loggedIn();
    for (const role of roles) {
      await unary(carrier, Auth.method.roleAdd, { name: role }, within).catch(unlessRefused);
      await unary(carrier, Auth.method.userGrantRole, { user: username, role }, within);
    }
  }

  async enable(by: Login): Promise<void> {
    await unary(this.#carrier, Auth.method.authEnable, {}, within);
    this.#by = by;
  }

  async disable(): Promise<void> {
    await unary(await this.#loggedIn(), Auth.method.authDisable, {}, within);
    this.#by = undefined;
  }

  async #loggedIn(): Promise<Carrier> {
    if (this.#by === undefined) return this.#carrier;
    const { username: name, password } = this.#by;
    const { token } = await unary(this.#carrier, Auth.method.authenticate, { name, password }, within);
    return withToken(this.#carrier, token);
  }
}

/** The role is there. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof EtcdError)) throw error;
}
