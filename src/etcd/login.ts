// Logging in where etcd's own authentication is on. A call is sent as it is. When etcd refuses it for lack of a login, the
// operator logs in at that member and sends the call once more, with the token that it got: the refusal comes before
// anything is done. So a login costs nothing while authentication is off, and nothing where a client certificate is enough.
//
// What was found on servers of 3.2 to 3.7 with authentication on (most of it is held to by testing/auth-contract.ts and
// test/etcd/auth.test.ts):
// - Without a token everything is refused as `authRequired`, with one exception: before 3.5.28 and 3.6.9 Status, MemberList,
//   Alarm, MoveLeader and Downgrade are not. A linearizable read is refused only after it went through the quorum.
// - A token is an entry of the raft log: it is good at every member, also after a restart, and none is given without quorum.
//   A member that has not got the entry yet lets the call wait for it. So does one that was restored from a backup with a
//   token of the cluster that was there before: its log is shorter, so the call waits until its time is over.
// - It ends 5 minutes after it was last used at that member, and with a change of the password. A member that was sent a
//   snapshot instead of the entry does not know it: `invalidToken`. A learner gives none and has to wait for a newer one.
//   One of 3.3 that was sent a snapshot knows no tokens at all until it is restarted; one of 3.2 ends once, at the next login
//   of anybody, and is well from then on.
// - A client certificate logs its common name in, whether there is such a user or not. From 3.3 on a token goes before it.
// - A user without roles may ask for Status and the members, and change nothing.
// - Before 3.5 a token is refused as invalid once authentication is off again.
import { TransportError } from "../transport/errors.ts";
import { tokenLength } from "./bounds.ts";
import { EtcdError, type EtcdReason } from "./errors.ts";
import { Auth } from "./gen/etcdserverpb/rpc_pb.ts";
import { type Carrier, unary, withToken } from "./grpc.ts";

/** A user of etcd. Neither a log nor an error shows the password: it is no property that could be printed. */
export class Login {
  readonly username: string;
  readonly #password: string;

  constructor(username: string, password: string) {
    this.username = username;
    this.#password = password;
  }

  get password(): string {
    return this.#password;
  }

  isSame(other: Login): boolean {
    return this.username === other.username && this.#password === other.#password;
  }
}

/** A user without it may change nothing that the operator is there for. */
const adminRole = "root";

/** Milliseconds. A server checks a password for a tenth of a second on purpose, and longer where there is little CPU. */
const loginWithin = 5000;
/** So long a login that was refused is not tried again: each try costs the server that tenth of a second. */
const refusedFor = 5000;

/** Before anything is done, and because of who asks. */
const refusals: ReadonlySet<EtcdReason> = new Set<EtcdReason>([
  "authRequired",
  "permissionDenied",
  "invalidToken",
  "wrongPassword",
  "notRoot",
]);

/** etcd does not let us do this, because of who we are. */
export function isAccessRefusal(error: unknown): error is EtcdError {
  return error instanceof EtcdError && refusals.has(error.reason);
}

/** The login itself is not good. */
function isLoginRefusal(error: unknown): error is EtcdError {
  return error instanceof EtcdError && (error.reason === "wrongPassword" || error.reason === "notRoot");
}

/** One user at the members of one cluster: their tokens are good for each other. */
export class Session {
  readonly #login: Login;
  readonly #now: () => number;
  #token: string | undefined;
  /** How many calls with a token were answered. */
  #answered = 0;
  #refused: { readonly error: EtcdError; readonly until: number } | undefined;
  /** Those on their way, by member: a call that needs one joins the one at its member. */
  readonly #underWay = new Map<string, Promise<string | undefined>>();
  /** Where it has logged in before. */
  readonly #voters = new Map<string, Carrier>();

  constructor(login: Login, now: () => number) {
    this.#login = login;
    this.#now = now;
  }

  /** Undefined: none is known, or none is needed. */
  get token(): string | undefined {
    return this.#token;
  }

  get answered(): number {
    return this.#answered;
  }

  /** A call with this token was answered. */
  noteAnswer(token: string | undefined): void {
    if (token !== undefined) this.#answered += 1;
  }

  /**
   * A call with this token was not answered in time. One that is good at another member meanwhile is kept: then this one is
   * slow. `answered`: as it was when the call was sent.
   */
  noteSilence(token: string | undefined, answered: number): void {
    if (token !== undefined && this.#token === token && this.#answered === answered) this.#token = undefined;
  }

  /** Another token than the one that was refused; undefined: authentication is off. */
  async renewed(refused: string | undefined, at: string, carrier: Carrier): Promise<string | undefined> {
    if (this.#token !== undefined && this.#token !== refused) return this.#token;
    if (this.#refused !== undefined && this.#now() < this.#refused.until) throw this.#refused.error;
    const joined = this.#underWay.get(at) ?? this.#begin(at, carrier);
    try {
      return await joined;
    } catch (error) {
      if (!(error instanceof EtcdError) || error.reason !== "notServedByLearner") throw error;
      return this.#fromVoter(refused, error);
    }
  }

  /** A learner logs nobody in. The next token that a voter gives reaches it, so the one that it does not know goes. */
  async #fromVoter(refused: string | undefined, error: EtcdError): Promise<string | undefined> {
    if (this.#token === refused) this.#token = undefined;
    for (const [at, carrier] of this.#voters)
      if (!this.#underWay.has(at)) this.#begin(at, carrier).catch(() => this.#voters.delete(at));
    try {
      return await Promise.any(this.#underWay.values());
    } catch {
      throw error;
    }
  }

  async #begin(at: string, carrier: Carrier): Promise<string | undefined> {
    const begun = this.#logIn(carrier);
    this.#underWay.set(at, begun);
    try {
      const token = await begun;
      this.#voters.set(at, carrier);
      return token;
    } finally {
      this.#underWay.delete(at);
    }
  }

  async #logIn(carrier: Carrier): Promise<string | undefined> {
    try {
      this.#token = await authenticated(this.#login, carrier);
      this.#refused = undefined;
    } catch (error) {
      if (isLoginRefusal(error)) this.#refused = { error, until: this.#now() + refusedFor };
      throw error;
    }
    return this.#token;
  }
}

async function authenticated(login: Login, carrier: Carrier): Promise<string | undefined> {
  const { username, password } = login;
  let token: string;
  try {
    const request = { name: username, password };
    ({ token } = await unary(carrier, Auth.method.authenticate, request, { deadline: loginWithin }));
  } catch (error) {
    if (error instanceof EtcdError && error.reason === "authNotEnabled") return undefined;
    throw error;
  }
  if (token.length > tokenLength || !/^[\x21-\x7e]+$/.test(token))
    throw new TransportError("broken", "Authenticate was answered with a token that no header can carry");
  // Said now, and not when a member has to be replaced.
  if (await isAdmin(username, withToken(carrier, token))) return token;
  throw new EtcdError("notRoot", "UserGet", `${username} does not have the role ${adminRole}`);
}

/** Everybody may ask for himself; in 3.2 only those with the role may. */
async function isAdmin(name: string, carrier: Carrier): Promise<boolean> {
  try {
    const { roles } = await unary(carrier, Auth.method.userGet, { name }, { deadline: loginWithin });
    return roles.includes(adminRole);
  } catch (error) {
    if (error instanceof EtcdError && error.reason === "permissionDenied") return false;
    throw error;
  }
}

/** Its time was over, here or at the server. */
export function isSilence(error: unknown): boolean {
  if (error instanceof TransportError) return error.failure === "deadline";
  return error instanceof EtcdError && error.reason === "timeout";
}

/**
 * Refused for lack of a login, or of a better one. `permissionDenied`: without a token it may be about the name in a client
 * certificate; with one it is about our own user, and no other token helps.
 */
export function asksForLogin(error: unknown, token: string | undefined): boolean {
  if (!(error instanceof EtcdError)) return false;
  if (error.reason === "invalidToken" || error.reason === "authRequired") return true;
  return error.reason === "permissionDenied" && token === undefined;
}
