// The cluster under test: created as a round wants it, looked at from outside, edited, and deleted.
import { mkdir, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { createSecureContext } from "node:tls";
import { etcdClusterOnVolumes } from "../../bench/places/operated.ts";
import { waitFor } from "../../lab/progress.ts";
import { EtcdCluster, type EtcdClusterSpec } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { leanPod, observedPod } from "../../src/cluster/observe/pods.ts";
import { ports } from "../../src/cluster/objects/labels.ts";
import { decoded } from "../../src/cluster/objects/secrets.ts";
import { Login } from "../../src/etcd/login.ts";
import type { EtcdMember, Member, MemberStatus } from "../../src/etcd/member.ts";
import { type ClientTls, type Endpoint, EtcdMembers } from "../../src/etcd/members.ts";
import { Informer } from "../../src/kube/cache/informer.ts";
import { Pod, Secret } from "../../src/kube/objects/kinds.ts";
import type { Key } from "../../src/kube/objects/objects.ts";
import { Http2Origin } from "../../src/transport/origin.ts";
import { AuthAdmin } from "../../test/etcd/auth-admin.ts";
import type { Ground } from "../ground.ts";
import { answerWithin, insist } from "../insist.ts";
import type { Sample } from "../judging/samples.ts";
import type { Round } from "../schedule.ts";
import { assigned, type Target } from "./entrance.ts";

/** Generous, for a busy machine. Only what never comes takes so long. */
const patienceMs = 180_000;
/** A member that does not answer in this time counts as silent at this look. */
const answerWithinMs = 1_500;

/** Whole logs, for the judge; and logins that do not cost a busy member a second. */
export const flags: readonly string[] = ["--max-wals=0", "--bcrypt-cost=4"];

export interface Roles {
  readonly leader: string;
  /** Sorted by name. */
  readonly followers: readonly string[];
}

export class Subject implements AsyncDisposable {
  readonly key: Key;
  readonly login: Login | undefined;
  readonly #ground: Ground;
  readonly #pods: Informer<Pod>;
  readonly #objects: Informer<EtcdCluster>;
  readonly #members = new EtcdMembers({ connectTimeout: answerWithinMs });
  readonly #end = new AbortController();
  #tls: ClientTls | undefined;
  /** The generation of the last edit: a status that is older says nothing. */
  #generation = 0;

  private constructor(ground: Ground, key: Key, login: Login | undefined) {
    this.#ground = ground;
    this.key = key;
    this.login = login;
    const { api } = ground;
    const observe = (): void => undefined;
    const { namespace } = key;
    const mine = { namespace, labelSelector: `etcd_cluster=${key.name}` };
    this.#pods = new Informer({ api, kind: Pod, selection: mine, observe });
    this.#objects = new Informer({ api, kind: EtcdCluster, selection: { namespace }, observe });
  }

  /** Resolves when it is healthy. */
  static async create(ground: Ground, name: string, round: Round): Promise<Subject> {
    const key = { namespace: ground.namespace, name };
    const login = round.secured && round.change !== "tls-on" ? new Login("root", "of-root") : undefined;
    const subject = new Subject(ground, key, login);
    try {
      await subject.#create(round);
      return subject;
    } catch (error) {
      await ground.api.delete(EtcdCluster, key).catch(() => undefined);
      await subject[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #create(round: Round): Promise<void> {
    const { api, signal } = this.#ground;
    for (const informer of [this.#pods, this.#objects]) void informer.run(this.#end.signal).catch(() => undefined);
    await Promise.all([this.#pods, this.#objects].map((informer) => informer.whenSynced(signal)));
    if (this.login !== undefined) await this.#giveLogin(this.login);
    await api.create(EtcdCluster, { metadata: { ...this.key }, spec: this.#spec(round) });
    await this.untilHealthy();
    if (this.login === undefined) return;
    await this.#enableAuth(this.login);
    await this.untilHealthy();
  }

  #spec(round: Round): EtcdClusterSpec {
    const withTls = round.secured || round.change === "tls-off";
    return {
      ...(round.onVolumes && {
        ...etcdClusterOnVolumes(this.key, round.size).spec,
        volumeRetention: { whenClusterDeleted: "Delete" },
      }),
      size: round.size,
      version: round.version,
      etcd: { extraArgs: [...flags] },
      ...(withTls && { TLS: { auto: true } }),
      ...(this.login !== undefined && { auth: { operatorSecret: this.#loginSecret } }),
    };
  }

  get #loginSecret(): string {
    return `${this.key.name}-login`;
  }

  async #giveLogin({ username, password }: Login): Promise<void> {
    const { namespace } = this.key;
    const metadata = { namespace, name: this.#loginSecret };
    await this.#ground.api.create(Secret, { metadata, stringData: { username, password } });
  }

  async #enableAuth(login: Login): Promise<void> {
    const [pod] = this.pods;
    if (pod === undefined) throw new Error("no member to enable authentication at");
    const { url, serverName, tls } = this.#endpointOf(pod);
    const origin = new Http2Origin(url, {
      tls: () =>
        tls === undefined
          ? {}
          : {
              secureContext: createSecureContext({ ca: tls.ca, ...tls.identity }),
              ...(serverName !== undefined && { servername: serverName }),
            },
    });
    try {
      const users = new AuthAdmin(origin);
      await users.setUser(login, ["root"]);
      await users.enable(login);
    } finally {
      origin.close();
    }
  }

  /** Terminating ones included, sorted by name. */
  get pods(): readonly Pod[] {
    return this.#pods.store
      .withLabel("etcd_cluster", this.key.name)
      .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  }

  get object(): EtcdCluster | undefined {
    return this.#objects.store.get(this.key);
  }

  /** What a person writes. */
  async edit(patch: object): Promise<void> {
    const { api, signal } = this.#ground;
    const edited = await insist(signal, () => api.mergePatch(EtcdCluster, this.key, patch, answerWithin));
    this.#generation = edited.metadata?.generation ?? 0;
  }

  /** To be called now and then where certificates come, go or are renewed. */
  async learnCertificates(): Promise<void> {
    const { namespace, name } = this.key;
    for (const use of ["client", "operator"]) {
      const secret = await this.#ground.api
        .get(Secret, { namespace, name: `${name}-${use}-tls` }, answerWithin)
        .catch(() => undefined);
      if (secret === undefined) continue;
      const {
        "etcd-client.crt": cert = "",
        "etcd-client.key": key = "",
        "etcd-client-ca.crt": ca = "",
      } = decoded(secret);
      if (ca !== this.#tls?.ca || cert !== this.#tls.identity?.cert) this.#tls = { ca, identity: { cert, key } };
      return;
    }
  }

  /** Files for a client that speaks TLS itself. */
  async writeCertificates(folder: string): Promise<{ ca: string; cert: string; key: string } | undefined> {
    await this.learnCertificates();
    if (this.#tls?.identity === undefined) return undefined;
    await mkdir(folder, { recursive: true });
    const write = async (name: string, text: string): Promise<string> => {
      await writeFile(path.join(folder, name), text, { mode: 0o600 });
      return path.join(folder, name);
    };
    const { ca, identity } = this.#tls;
    return {
      ca: await write("ca.crt", ca),
      cert: await write("tls.crt", identity.cert),
      key: await write("tls.key", identity.key),
    };
  }

  #endpointOf(pod: Pod): Endpoint {
    const address = pod.status?.podIP ?? "";
    const login = this.login && { login: this.login };
    if (!speaksTls(pod) || this.#tls === undefined) return { url: `http://${address}:${ports.client}`, ...login };
    return { url: `https://${address}:${ports.client}`, serverName: this.#hostOf(pod), tls: this.#tls, ...login };
  }

  #hostOf(pod: Pod): string {
    return `${nameOf(pod)}.${this.key.name}.${this.key.namespace}.svc`;
  }

  member(pod: Pod): EtcdMember {
    return this.#members.at(this.#endpointOf(pod));
  }

  /** Who is behind each door. `translated`: the doors speak for clients what each member speaks. */
  targets(before: readonly (Target | undefined)[], translated: boolean, last: Sample | undefined): Target[] {
    const there = this.pods.filter(({ metadata, status }) => !metadata?.deletionTimestamp && status?.podIP);
    const candidates = there.map((pod) => ({
      id: this.#doorId(pod),
      serves: last?.members.some(({ name, answer }) => name === nameOf(pod) && answer !== undefined) ?? true,
    }));
    const ids = assigned(
      before.map((target) => target?.id),
      candidates,
    );
    return ids.flatMap((id) => {
      const pod = there.find((one) => this.#doorId(one) === id);
      if (pod === undefined) return [];
      const plain: Target = { id, host: pod.status?.podIP ?? "", port: ports.client };
      return [translated && speaksTls(pod) ? { ...plain, speakFor: () => this.#endpointOf(pod) } : plain];
    });
  }

  #doorId(pod: Pod): string {
    return `${pod.metadata?.uid} ${pod.status?.podIP} ${speaksTls(pod)}`;
  }

  async look(): Promise<Sample> {
    const at = Date.now();
    const pods = this.pods;
    const asked = await Promise.all(
      pods.map(async (pod) => {
        const status = pod.status?.podIP
          ? await this.member(pod)
              .status({ deadline: answerWithinMs })
              .catch(() => undefined)
          : undefined;
        return { pod, status, answeredAt: Date.now() };
      }),
    );
    const list = await this.#listed(asked.flatMap(({ pod, status }) => (status === undefined ? [] : [pod])));
    const why = this.#sickness(asked, list);
    return {
      at,
      healthy: why === "",
      why,
      members: asked.map(({ pod, status, answeredAt }) => ({
        name: nameOf(pod),
        ...(status !== undefined && {
          answer: { at: answeredAt, clusterId: status.clusterId, revision: status.revision, term: status.raftTerm },
        }),
      })),
      ...(list !== undefined && { voters: list.filter(({ learner }) => !learner).map(podNameOf) }),
    };
  }

  /** Through the quorum, by the first member that can. */
  async #listed(pods: readonly Pod[]): Promise<readonly Member[] | undefined> {
    for (const pod of pods) {
      const list = await this.member(pod)
        .memberList({ linearizable: true }, { deadline: answerWithinMs })
        .catch(() => undefined);
      if (list !== undefined) return list.members;
    }
    return undefined;
  }

  /** Empty: Kubernetes, etcd and the status agree that all is well. */
  #sickness(
    asked: readonly { readonly pod: Pod; readonly status: MemberStatus | undefined }[],
    list: readonly Member[] | undefined,
  ): string {
    const { object } = this;
    if (object === undefined) return "there is no EtcdCluster";
    const generation = Math.max(this.#generation, object.metadata?.generation ?? 0);
    if (asked.length !== object.spec.size) return `${asked.length} pods`;
    const silent = asked.filter(({ status }) => status === undefined).map(({ pod }) => nameOf(pod));
    if (silent.length > 0) return `${silent.join(", ")} silent`;
    if (list === undefined) return "no quorum answers";
    const learners = list.filter(({ learner }) => learner).length;
    if (learners > 0) return `${learners} learners`;
    const [names, listed] = [asked.map(({ pod }) => nameOf(pod)), list.map(podNameOf)];
    if (names.toSorted().join() !== listed.toSorted().join()) return `etcd lists ${listed.join(", ")}`;
    const leaders = new Set(asked.map(({ status }) => status?.leader));
    if (leaders.size !== 1 || leaders.has(undefined)) return "no leader that all agree on";
    const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.observedGeneration !== generation) return "the status is older than the spec";
    return ready.status === "True" ? "" : `Ready is ${ready.status}: ${ready.reason}`;
  }

  async untilHealthy(timeoutMs = patienceMs): Promise<void> {
    let seen = "nothing yet";
    await waitFor(
      `${this.key.name} to be healthy`,
      async () => {
        this.#ground.signal.throwIfAborted();
        await this.learnCertificates();
        const sample = await this.look();
        seen = sample.why;
        return sample.healthy || undefined;
      },
      { timeoutMs, everyMs: 250, lastSeen: () => seen },
    );
  }

  async roles(): Promise<Roles> {
    const asked = await Promise.all(
      this.pods
        .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
        .map(async (pod) => ({
          name: nameOf(pod),
          status: await this.member(pod)
            .status({ deadline: answerWithinMs })
            .catch(() => undefined),
        })),
    );
    const leader = asked.find(({ status }) => status !== undefined && status.leader === status.memberId);
    if (leader === undefined) throw new Error("nobody leads");
    const followers = asked.filter(({ status }) => status !== undefined && !status.learner && status !== leader.status);
    return { leader: leader.name, followers: followers.map(({ name }) => name) };
  }

  nodeOf(member: string): string {
    return this.pods.find((pod) => nameOf(pod) === member)?.spec?.nodeName ?? "";
  }

  /** Returns when its pods are gone. */
  async delete(): Promise<void> {
    await this.#ground.api.delete(EtcdCluster, this.key);
    await waitFor(`${this.key.name} to be gone`, async () => this.pods.length === 0 || undefined, {
      timeoutMs: patienceMs,
      lastSeen: () => `${this.pods.length} pods`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error("the round has ended"));
    this.#members.close();
  }
}

export const nameOf = ({ metadata }: Pod): string => metadata?.name ?? "";

/** From the peer URL: etcd has the member's name only after it has started. */
const podNameOf = ({ peerUrls: [url = ""] }: Member): string => new URL(url).hostname.split(".")[0] ?? "";

export const speaksTls = (pod: Pod): boolean => observedPod(leanPod(pod), undefined).tls.client;
