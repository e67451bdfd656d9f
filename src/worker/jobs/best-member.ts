// Which member a snapshot is taken from: of those that answer, the one that has the most, and rather one that does not lead.
import type { EtcdMember, MemberStatus } from "../../etcd/member.ts";
import type { Endpoint } from "../../etcd/members.ts";
import { failureOf, WorkerFailure } from "../program/failure.ts";
import type { JobContext } from "../program/job-context.ts";

export interface ChosenMember {
  readonly member: EtcdMember;
  readonly status: MemberStatus;
}

interface Silent {
  readonly endpoint: string;
  readonly error: unknown;
}

/** Milliseconds in which a member has to answer; the others are not kept waiting for longer. */
const answerWithin = 5000;

/** Best first; at least one. */
export async function sourcesAt(endpoints: readonly Endpoint[], worker: JobContext): Promise<readonly ChosenMember[]> {
  const answers: ChosenMember[] = [];
  const silent: Silent[] = [];
  const ask = async (endpoint: Endpoint): Promise<void> => {
    const member = worker.members.at(endpoint);
    try {
      answers.push({ member, status: await member.status({ deadline: answerWithin, signal: worker.signal }) });
    } catch (error) {
      worker.signal.throwIfAborted();
      worker.log.warn("an endpoint does not answer", { endpoint: endpoint.url, error });
      silent.push({ endpoint: endpoint.url, error });
    }
  };
  await Promise.all(endpoints.map(ask));
  if (answers.length === 0) throw nobodyAnswers(silent);
  return rank(answers);
}

/**
 * Whether the member has everything that was acknowledged by now: it can read through a quorum. One that is cut off, or the
 * last of several, gives a snapshot all the same, and nobody can tell what it lacks. A learner cannot, either.
 */
export async function isCurrent({ member }: ChosenMember, { log, signal }: JobContext): Promise<boolean> {
  const health = await member.health({ deadline: answerWithin, signal });
  signal.throwIfAborted();
  if (health.t === "healthy") return true;
  log.warn("the member cannot prove that it is up to date", { endpoint: member.endpoint, error: health.error });
  return false;
}

/** Best first. Throws when none of them may be backed up. */
export function rank<S extends { readonly status: MemberStatus }>(answers: readonly S[]): readonly S[] {
  const clusters = new Set(answers.map(({ status }) => status.clusterId));
  if (clusters.size > 1)
    throw new WorkerFailure(
      "misconfigured",
      `The endpoints belong to different etcd clusters (${[...clusters].join(", ")}). Name the endpoints of one cluster.`,
    );
  const sound = answers.filter(({ status }) => !isCorrupt(status));
  if (sound.length === 0)
    throw new WorkerFailure(
      "etcd",
      "Every member that answers has the alarm CORRUPT: its data cannot be trusted. Look at it with etcdctl alarm list.",
    );
  return sound.toSorted((a, b) => compare(a.status, b.status));
}

const isCorrupt = ({ memberId, alarms }: MemberStatus): boolean =>
  alarms.some(({ member, type }) => type === "corrupt" && member === memberId);

/** A learner may lack much, and says the revision that it has. Under load the leader is ahead for a moment. */
function compare(a: MemberStatus, b: MemberStatus): number {
  return (
    Number(a.learner) - Number(b.learner) ||
    b.revision - a.revision ||
    applied(b) - applied(a) ||
    Number(leads(a)) - Number(leads(b))
  );
}

const applied = ({ raftAppliedIndex, raftIndex }: MemberStatus): number => raftAppliedIndex ?? raftIndex;
const leads = ({ leader, memberId }: MemberStatus): boolean => leader === memberId;

function nobodyAnswers(silent: readonly Silent[]): WorkerFailure {
  const each = silent.map(({ endpoint, error }) => `${endpoint}: ${failureOf(error).message}`);
  return new WorkerFailure("etcd", `No endpoint of etcd answers. ${each.join("; ")}`);
}
