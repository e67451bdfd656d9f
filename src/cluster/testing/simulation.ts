// The operator in the model: looks, decides and acts as the real one does, with views that may be old and a process
// that may die between any two actions.
import assert from "node:assert/strict";
import type { MemberId } from "../../etcd/ids.ts";
import { formatVersion } from "../../etcd/versions/version.ts";
import type { Plan } from "../plan/actions.ts";
import { planCluster } from "../plan/plan.ts";
import { quorum } from "../plan/safety.ts";
import { seatsOf } from "../plan/seats.ts";
import type { EtcdView, MemberAnswer, MemberPod, World } from "../observe/world.ts";
import type { Model } from "./model.ts";

/** What the caches hold. */
type Caches = Pick<World, "cluster" | "pods" | "peerService" | "clientService" | "budget">;

export type View =
  | "fresh"
  /** Nothing that others did since the last pass; its own writes are waited for. */
  | "behind"
  /** As of the pass before: what a restarted operator may get from an API server that lags. */
  | "before";

export interface PassOptions {
  readonly view: View;
  /** The process ends after so many actions; undefined: it does not. */
  readonly diesAfter: number | undefined;
}

export interface Passed extends Plan {
  /** Not all of it was done; the real one waits a moment before it tries again. */
  readonly refused: boolean;
}

export class Simulation {
  readonly model: Model;
  readonly #random: () => number;
  /** The caches at the end of the last passes, newest first. */
  #past: readonly Caches[] = [];
  readonly log: string[] = [];

  constructor(model: Model, random: () => number) {
    this.model = model;
    this.#random = random;
  }

  pass({ view, diesAfter }: PassOptions = { view: "fresh", diesAfter: undefined }): Passed {
    const fresh = this.#caches();
    const caches = view === "fresh" ? fresh : (this.#past[view === "behind" ? 0 : 1] ?? fresh);
    const world: World = { ...caches, problems: [], etcd: this.#askEtcd(caches.pods) };
    const plan = planCluster(world, this.model.now, this.#random);
    this.log.push(`${this.model.now} ${view}: ${plan.because} [${plan.actions.map(({ do: what }) => what).join(" ")}]`);
    this.#assertSensible(plan, world);
    let carriedOut = 0;
    for (const action of plan.actions) {
      if (carriedOut === diesAfter || !this.model.carryOut(action)) break;
      carriedOut += 1;
    }
    this.#past = [this.#caches(), ...this.#past].slice(0, 2);
    return { ...plan, refused: carriedOut < plan.actions.length };
  }

  #caches(): Caches {
    const { model } = this;
    const { peerService, clientService, budget } = model;
    return { cluster: model.clusterView(), pods: model.podView(), peerService, clientService, budget };
  }

  #askEtcd(pods: readonly MemberPod[]): EtcdView {
    const { etcd } = this.model;
    const askable = pods.filter(({ address }) => address !== undefined).map(({ name }) => name);
    if (askable.length === 0) return { t: "nobody" };
    const answered = askable.flatMap((name) => this.model.answerOf(name) ?? []);
    if (!etcd || answered.length === 0) return { t: "silent", tried: askable };
    const answers = new Map<MemberId, MemberAnswer>(
      answered.map(({ process, member, held }) => {
        const status: MemberAnswer["status"] = {
          clusterId: etcd.clusterId,
          memberId: member.id,
          version: formatVersion(process.version),
          learner: member.learner,
          leader: etcd.leaderSeenBy(process),
          revision: held,
          raftTerm: etcd.term,
          raftIndex: held + 10,
          raftAppliedIndex: held + 10,
          dbSize: 20_480,
          dbSizeInUse: 20_480,
          dbSizeQuota: undefined,
          storageVersion: undefined,
          alarms: [],
        };
        return [member.id, { status, healthy: !member.learner && etcd.hasQuorum(process) }];
      }),
    );
    const known = { clusterId: etcd.clusterId, answers, strangers: [] };
    if ([...answers.values()].some(({ healthy }) => healthy)) return { t: "quorum", ...known, members: etcd.members };
    const voters = answered.some(({ member }) => !member.learner);
    return { t: "noQuorum", ...known, members: voters ? etcd.members : [] };
  }

  /** Of the plan itself, whatever the model would let it do. */
  #assertSensible({ actions, because }: Plan, world: World): void {
    assert.notEqual(because, "");
    if (world.cluster.status.clusterId !== undefined)
      assert.ok(!actions.some(({ do: what }) => what === "createSeed"), "a seed was planned for a cluster with an id");
    const removed = new Set(actions.flatMap((action) => (action.do === "removeMember" ? [action.id] : [])));
    if (world.etcd.t !== "quorum") {
      assert.equal(removed.size, 0, "a member was to be removed without the quorum");
      return;
    }
    const seats = seatsOf(world, world.etcd, this.model.now);
    const voters = seats.filter(({ member }) => !member.learner);
    const removedVoters = voters.filter(({ member }) => removed.has(member.id));
    assert.ok(removedVoters.length <= 1, "two voters were to be removed in one pass");
    const [victim] = removedVoters;
    if (victim?.state.t !== "healthy") return;
    const rest = voters.filter((seat) => seat !== victim);
    const staying = rest.filter(({ state }) => state.t === "healthy").length;
    assert.ok(staying >= quorum(rest.length), "a healthy voter was to be removed while others were unwell");
  }
}
