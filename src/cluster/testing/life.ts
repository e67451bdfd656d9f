// The life of one operator process in memory: it counts what the process writes, to Kubernetes and to etcd's list of
// members, and ends it right after one of these writes, or keeps the answer to one from it.
import type { Call, EtcdMember } from "../../etcd/member.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { type Fence, LeadershipLost } from "../../kube/leader/fence.ts";
import { type Kind, type KubeObject, keyText, keyOf } from "../../kube/objects/objects.ts";
import { TransportError } from "../../transport/errors.ts";

export type Fate =
  | { readonly t: "lives" }
  /** The write of this number takes effect, and is the last thing that the process does. */
  | { readonly t: "dies"; readonly after: number }
  /** The write of this number takes effect, and the process is told that the connection broke. */
  | { readonly t: "losesAnswer"; readonly of: number };

/** What a process that is over gets for everything that it asks. */
class Crashed extends Error {
  constructor() {
    super("the process has crashed");
    this.name = "Crashed";
  }
}

/** Looks at the world and at the process before a write, and gives what is to be asserted after it. */
export type Witness = (what: string, life: Life) => () => void;

const neverAborted = new AbortController().signal;

export class Life {
  /** In order, each as its verb and what it was about. */
  readonly writes: string[] = [];
  readonly #fate: Fate;
  readonly #witness: Witness;
  readonly #ended = new AbortController();
  #leads = true;

  constructor(fate: Fate, witness: Witness = () => () => undefined) {
    this.#fate = fate;
    this.#witness = witness;
  }

  /** Aborts at its end. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  get isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  end(): void {
    this.#ended.abort(new Crashed());
  }

  /** It has lost its lease and runs on: from now on nothing that it writes may be sent. */
  fence(): void {
    this.#leads = false;
  }

  get leads(): boolean {
    return this.#leads;
  }

  /** What the process itself knows of its lease. */
  get lease(): Fence {
    const check = (): void => {
      if (!this.#leads) throw new LeadershipLost("default/etcd-operator", "another process holds it");
    };
    return { holds: () => this.#leads, check, signal: neverAborted };
  }

  async read<T>(ask: () => Promise<T>): Promise<T> {
    if (this.isOver) throw new Crashed();
    const answer = await ask();
    if (this.isOver) throw new Crashed();
    return answer;
  }

  async write<T>(what: string, ask: () => Promise<T>): Promise<T> {
    const check = this.#witness(what, this);
    const answer = await this.read(ask);
    this.writes.push(what);
    check();
    const number = this.writes.length;
    if (this.#fate.t === "dies" && number === this.#fate.after) {
      this.end();
      throw new Crashed();
    }
    if (this.#fate.t === "losesAnswer" && number === this.#fate.of)
      throw new TransportError("broken", `the connection broke before the answer to "${what}"`);
    return answer;
  }
}

/** What stands between an operator and the API server: quotas, policies, webhooks. */
export interface Admission {
  /** Throws to refuse it. */
  check(verb: "create" | "mergePatch", kind: Kind<KubeObject>, body: object): void;
  /** What is made, or written, instead. */
  change<T extends KubeObject>(kind: Kind<T>, object: T, verb: "create" | "replace"): T;
}

/** The API as a process with this life sees it. */
export function apiDuring(life: Life, api: KubeApi, admission: Admission): KubeApi {
  return {
    get: (kind, key, options) => life.read(() => api.get(kind, key, options)),
    list: (kind, options) => life.read(() => api.list(kind, options)),
    watch: (kind, options, onEvent) => life.read(() => api.watch(kind, options, onEvent)),
    log: (pod, options) => life.read(() => api.log(pod, options)),
    create: (kind, object, options) => {
      const create = async () => {
        admission.check("create", kind, object);
        return await api.create(kind, admission.change(kind, object, "create"), options);
      };
      // A dry run changes nothing.
      if (options?.dryRun === true) return life.read(create);
      return life.write(`create ${kind.kind} ${keyText(keyOf(object))}`, create);
    },
    replace: (kind, object, options) =>
      life.write(`replace ${kind.kind} ${keyText(keyOf(object))}`, () =>
        api.replace(kind, admission.change(kind, object, "replace"), options),
      ),
    apply: (kind, object, options) =>
      life.write(`apply ${kind.kind} ${keyText(keyOf(object))}`, () => api.apply(kind, object, options)),
    mergePatch: (kind, key, patch, options) =>
      life.write(`patch ${kind.kind} ${keyText(key)}`, async () => {
        admission.check("mergePatch", kind, patch);
        return await api.mergePatch(kind, key, patch, options);
      }),
    delete: (kind, key, options) =>
      life.write(`delete ${kind.kind} ${keyText(key)}`, () => api.delete(kind, key, options)),
  };
}

/** A member as a process with this life sees it. */
export function memberDuring(life: Life, member: EtcdMember): EtcdMember {
  /** As the client does it: whoever asked is asked once more before the request goes out. */
  const write = <T>(what: string, call: Pick<Call, "beforeSend"> | undefined, ask: () => Promise<T>): Promise<T> => {
    call?.beforeSend?.();
    return life.write(what, ask);
  };
  return {
    ...member,
    status: (call) => life.read(() => member.status(call)),
    health: (call) => life.read(() => member.health(call)),
    memberList: (options, call) => life.read(() => member.memberList(options, call)),
    memberAdd: async (wanted, call) => write("add member", call, () => member.memberAdd(wanted, call)),
    memberPromote: async (id, call) => write("promote member", call, () => member.memberPromote(id, call)),
    memberRemove: async (id, call) => write("remove member", call, () => member.memberRemove(id, call)),
    memberUpdate: async (id, urls, call) => write("update member", call, () => member.memberUpdate(id, urls, call)),
    downgrade: async (step, call) => write(`downgrade: ${step.do}`, call, () => member.downgrade(step, call)),
    disarm: async (alarm, call) => write("disarm", call, () => member.disarm(alarm, call)),
    hashKv: (revision, call) => life.read(() => member.hashKv(revision, call)),
    moveLeader: async (to, call) => write("move leader", call, () => member.moveLeader(to, call)),
  };
}
