// What must never happen to a cluster, whatever people and nature do and whenever operators die: asserted as time passes
// and at each write of an operator.
import assert from "node:assert/strict";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { MemberId } from "../../etcd/ids.ts";
import type { Member } from "../../etcd/member.ts";
import { stepBetween } from "../../etcd/versions/steps.ts";
import { oldestVersion, parseVersion } from "../../etcd/versions/version.ts";
import type { Clock } from "../../kube/clock.ts";
import { Pod, Secret } from "../../kube/objects/kinds.ts";
import type { KubeObject } from "../../kube/objects/objects.ts";
import { controllerOf } from "../../kube/objects/owners.ts";
import type { FinishedCall } from "../../kube/testing/fake-api/calls.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { quorum } from "../assess/instances.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { versionIn } from "./kubelet/container.ts";
import type { Kubelet } from "./kubelet/kubelet.ts";
import type { Life, Witness } from "./life.ts";
import { theirAnnotation } from "./tls/process-tls.ts";
import { RestoreWatch } from "./restore-watch.ts";

const mostWritesAtOnce = 200;

export class Watch {
  /** The most members that etcd ever had. */
  mostMembers = 0;
  readonly #kubelet: Kubelet;
  #mayBeApart = false;
  readonly #failures: string[] = [];
  /** What the test does to members by itself: as many as a cluster goes on with, as it survives, or more. */
  #harm: "goesOn" | "survives" | "unlimited" = "goesOn";
  /** By the uid of an EtcdCluster. */
  readonly #recorded = new Map<string, string>();
  /** A person has asked for other data: the members go, and what they hold with them. */
  #restoring = false;
  readonly restores: RestoreWatch;
  #size = 0;
  /** The uids of Secrets on which others have written. */
  readonly #withTheirs = new Set<string>();
  #busy = { at: 0, writes: 0 };
  readonly #clock: Clock;

  constructor(kubelet: Kubelet, api: FakeApi, clock: Clock, namespace: string) {
    this.#kubelet = kubelet;
    this.#clock = clock;
    this.restores = new RestoreWatch(kubelet, (what) => this.#fail(what));
    api.onWrite((write) => {
      if (write.object?.metadata?.namespace !== namespace) return;
      this.#heard(write);
      this.restores.heard(write);
    });
    const { etcds } = kubelet;
    etcds.onStray = (pod, home) => this.#fail(`${pod.metadata?.name} connects to the members in ${home}`);
    kubelet.onShared = (pod) => this.#fail(`${pod.metadata?.name} runs on a volume that another process uses`);
    etcds.onMadeTwice = (pod) => this.#fail(`${pod.metadata?.name} is made from the backup a second time`);
    etcds.onSeed = (pod) => this.#seeded(pod);
    etcds.onEmptyVoter = (pod) => {
      if (this.#isRecorded(pod)) this.#fail(`${pod.metadata?.name} votes again, without its data`);
    };
  }

  /** For a moment there may be too few members that run. */
  allowAbsence(): void {
    this.#harm = "survives";
  }

  /** Too many members may lose their data for any operator to make good. */
  allowLoss(): void {
    this.#harm = "unlimited";
  }

  /** Certificates were lost: members may be unable to connect to each other, and are started again. */
  allowApart(): void {
    this.#mayBeApart = true;
    if (this.#harm === "goesOn") this.allowAbsence();
  }

  /** At any time. */
  check(): void {
    const { etcd, failures } = this.#kubelet;
    assert.deepEqual(failures, []);
    this.restores.check();
    if (etcd !== undefined) {
      this.mostMembers = Math.max(this.mostMembers, etcd.members.length);
      for (const why of this.#mayBeApart ? [] : this.#kubelet.apart) this.#fail(`members cannot connect: ${why}`);
      for (const name of this.#mayBeApart ? [] : this.#kubelet.expired)
        this.#fail(`${name} shows a certificate that has expired`);
      this.#expect(etcd.lost === 0, "acknowledged entries are lost");
      for (const name of this.#kubelet.bygone) this.#fail(`${name} runs with the data of an earlier cluster`);
      this.#expect(!etcd.endangered, "voters that lack acknowledged entries are a majority");
      if (this.#harm !== "unlimited" && !this.#restoring) this.#expect(!this.isDoomed(), "the quorum is lost for good");
      if (this.#harm === "goesOn" && !this.#restoring) this.#expect(this.decides(), "the quorum is lost");
    }
    assert.deepEqual(this.#failures, []);
  }

  /** What an operator writes must not cost the quorum that there was, nor data that would have come back. */
  witness: Witness = (what, life) => {
    this.#expectRest(what, life);
    this.#expect(life.leads, `"${what}" is written by a process that has lost its lease`);
    // No member goes by it, and what happens at the same time is the doing of others.
    if (/^\w+ Etcd(Backup|Restore) /.test(what)) return () => undefined;
    const before = {
      decides: this.decidesWithStaying(),
      doomed: this.isDoomed(),
      members: this.#members(),
      voters: this.#voters().length,
      copies: this.#copies(),
    };
    const keepsData = this.#kubelet.allKeepTheirData;
    const heldUp = new Set(before.members.filter(({ name }) => this.#kubelet.isHeldUp(name)).map(({ id }) => id));
    return () => {
      // Before the first entry nobody was told that anything is kept, and a seed may be made again.
      if ((this.#kubelet.etcd?.entries ?? 0) === 0 || this.#restoring) return;
      // Where etcd knows no learners, a second voter is added before it runs, and there is no other way.
      const second = before.voters === 1 && this.#voters().length === 2 && this.#running().length === 1;
      // Neither of two voters may fail, and a version is changed by a restart.
      const isReunion = this.#mayBeApart && what.startsWith("replace Pod");
      const isRestart = what.startsWith("replace Pod") || (what.startsWith("delete Pod") && keepsData);
      const restart = isRestart && this.#voters().length <= 2;
      if (before.decides && !second && !restart && !isReunion)
        this.#expect(this.decidesWithStaying(), `"${what}" took the quorum away`);
      if (!before.doomed) this.#expect(!this.isDoomed(), `"${what}" lost the quorum for good`);
      if (before.members.length <= this.#size) this.#expectKept(before.members, heldUp);
      if (before.voters <= this.#size && this.#harm !== "unlimited") this.#expectCopies(before.copies);
    };
  };

  /** Who writes and writes while no time passes would never let the test go on. */
  #expectRest(what: string, life: Life): void {
    const now = this.#clock.now();
    this.#busy = now === this.#busy.at ? { at: now, writes: this.#busy.writes + 1 } : { at: now, writes: 0 };
    if (this.#busy.writes < mostWritesAtOnce) return;
    this.#fail(`"${what}" is written again and again`);
    life.end();
  }

  /** A container that waits for its image, or for a Secret, has its data; nobody is taken out for that. */
  #expectKept(before: readonly Member[], heldUp: ReadonlySet<MemberId>): void {
    const now = new Set(this.#members().map(({ id }) => id));
    const gone = before.filter(({ id, learner }) => heldUp.has(id) && !learner && !now.has(id));
    for (const { name } of gone) this.#fail(`${name} was taken out, though its data is there`);
  }

  /** Who serves, and holds what was acknowledged. */
  #copies(): Member[] {
    const { emptyVoters = [], splits = [] } = this.#kubelet.etcd ?? {};
    const isWhole = ({ name }: Member): boolean => !emptyVoters.includes(name) && !splits.includes(name);
    return this.#running().filter((member) => this.#kubelet.stays(member.name) && isWhole(member));
  }

  /** Nobody who serves is taken out while there is nobody too many. */
  #expectCopies(before: readonly Member[]): void {
    const now = new Set(this.#members().map(({ id }) => id));
    for (const { id, name } of before) if (!now.has(id)) this.#fail(`${name} was taken out while it served`);
  }

  /** The voters that run are enough. One that etcd has not heard of yet is no loss of an earlier one. */
  decides(): boolean {
    const { etcd } = this.#kubelet;
    const started = this.#voters().filter(({ name }) => name !== "");
    return etcd === undefined || this.#running().length >= quorum(started.length);
  }

  /** They would still be if those went that are told to, and these. */
  decidesWithStaying(without: readonly string[] = []): boolean {
    return this.#staying(without) >= quorum(this.#voters().length);
  }

  /** How many of them are there to stay. */
  decidesAmong(needed: number): boolean {
    return this.#staying([]) >= needed;
  }

  /** Too many voters have lost their data. One that never ran had none, and may yet run. */
  isDoomed(): boolean {
    const { etcd } = this.#kubelet;
    const voters = this.#voters();
    // Its data is about to be replaced by that of a backup.
    if (etcd === undefined || voters.length === 0 || this.#restoring) return false;
    // A voter that never ran may yet, unless somebody added it by hand under a name that has no pod. Without a quorum nobody
    // makes a pod for it, but for the second of two: it may have run, and what it acknowledged then is gone with its pod.
    const { pods } = this.#kubelet;
    const isServed = (url: string): boolean => voters.length === 2 || pods.some((name) => url.includes(`//${name}.`));
    const mayRun = ({ peerUrls }: Member): boolean => peerUrls.some((url) => url.includes(".svc") && isServed(url));
    const left = voters.filter((voter) => (voter.name === "" ? mayRun(voter) : etcd.hasData(voter.id)));
    return left.length < quorum(voters.length);
  }

  describe(): string {
    const { etcd } = this.#kubelet;
    const members = etcd?.members.map(({ name, id, peerUrls, learner, clientUrls: [url = ""] }) => {
      const process = etcd.processAt(url);
      const state = process === undefined ? "no data" : `${process.state}, ${process.held} entries`;
      return `${name || peerUrls[0]}${id === etcd.leader ? " (leads)" : ""}${learner ? " (learner)" : ""}: ${state}`;
    });
    const splits = etcd?.splits.map((name) => `; ${name} leads a cluster of its own`).join("") ?? "";
    return `${etcd?.entries ?? 0} entries; members ${members?.join(", ") ?? "none"}${splits}`;
  }

  #heard({ kind, verb, object }: FinishedCall): void {
    if (object === undefined) return;
    if (kind === EtcdCluster.kind) {
      const { metadata, spec, status } = object as EtcdCluster; // the server keeps them under this kind
      const uid = metadata?.uid ?? "";
      const [was, is] = [this.#recorded.get(uid), status?.clusterId];
      this.#size = spec.size ?? 0;
      // It is let go of once, when nothing of the old cluster is left.
      this.#restoring = status?.restore?.phase === "Stopping" || status?.restore?.phase === "Seeding";
      const isLetGo = is === undefined && status?.restore?.phase === "Seeding";
      if (isLetGo && was !== undefined) this.#expectNothingLeft();
      if (isLetGo) this.#recorded.delete(uid);
      else if (was !== undefined && is !== was) this.#fail(`the cluster's id went from ${was} to ${is}`);
      if (is !== undefined) this.#recorded.set(uid, is);
    }
    if (kind === Secret.kind) this.#expectTheirs(object);
    if (kind === Pod.kind && verb === "create") this.#expectVersion(object as Pod);
  }

  /** What others write on a Secret stays there as long as the Secret does. */
  #expectTheirs({ metadata }: KubeObject): void {
    const uid = metadata?.uid ?? "";
    const isThere = metadata?.annotations?.[theirAnnotation] !== undefined;
    if (isThere) this.#withTheirs.add(uid);
    else if (this.#withTheirs.has(uid)) this.#fail(`${metadata?.name} has lost what others wrote on it`);
  }

  #expectNothingLeft(): void {
    this.#expect(this.#kubelet.pods.length === 0, `members are still there: ${this.#kubelet.pods.join(", ")}`);
  }

  /** A member is made in a version that the cluster may go to from the one that it has. */
  #expectVersion(pod: Pod): void {
    const wanted = parseVersion(versionIn(pod));
    const processes = this.#members().flatMap(({ clientUrls: [url = ""] }) => this.#kubelet.etcd?.processAt(url) ?? []);
    const oldest = oldestVersion(processes.map(({ version }) => version));
    if (isImageCheck(pod)) return;
    if (!this.#isRecorded(pod) || wanted === undefined || oldest === undefined) return;
    const step = stepBetween(oldest, wanted).t;
    if (step !== "refused" && step !== "downgrade") return;
    // etcd has got its data ready for the older version, and counts as it.
    if (step === "downgrade" && processes.every(({ storage }) => storage <= wanted.minor)) return;
    this.#fail(
      `${pod.metadata?.name} was made with ${versionIn(pod)} for a cluster of 3.${oldest.minor}.${oldest.patch}`,
    );
  }

  #seeded(pod: Pod): void {
    this.restores.seeded(pod);
    if (this.#isRecorded(pod)) this.#fail(`${pod.metadata?.name} began another cluster for one that has an id`);
  }

  #isRecorded(pod: Pod): boolean {
    return this.#recorded.has(controllerOf(pod)?.uid ?? "");
  }

  #expect(holds: boolean, what: string): void {
    if (!holds) this.#fail(what);
  }

  /** The first few say enough. */
  #fail(what: string): void {
    if (this.#failures.length >= 5) return;
    this.#failures.push(`${what}; ${this.describe()}`);
  }

  #members(): readonly Member[] {
    return this.#kubelet.etcd?.members ?? [];
  }

  #voters(): Member[] {
    return this.#members().filter(({ learner }) => !learner);
  }

  #running(): Member[] {
    const { etcd } = this.#kubelet;
    return this.#voters().filter(({ clientUrls: [url = ""] }) => etcd?.processAt(url)?.state === "running");
  }

  #staying(without: readonly string[]): number {
    return this.#running().filter(({ name }) => this.#kubelet.stays(name) && !without.includes(name)).length;
  }
}
