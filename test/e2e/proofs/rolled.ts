// Waits for a rolling change: for its end, and for the moment at which some members are updated and others are not.
import { waitFor } from "../../../lab/progress.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "../support/cluster.ts";
import { patience } from "../support/environment.ts";
import { areReported } from "../support/member-process.ts";
import { checkCluster, memberAt, podText, type HealthyCluster } from "../support/healthy.ts";

/** More than any roll of a test makes; ends one that never settles. */
const mostChanges = 500;

/**
 * Waits until the cluster is healthy and Ready, and `isOver`. A roll takes long, so only one that does not move for a
 * while fails.
 */
export async function untilRolled(
  cluster: TestCluster,
  isOver: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<HealthyCluster> {
  let pods = "";
  let because = "nothing yet";
  for (let changes = 0; changes < mostChanges; changes += 1) {
    const seen = await waitFor(
      `${cluster.name} to be healthy, or the next change of a pod`,
      async () => {
        const [object, found] = await Promise.all([cluster.get(), cluster.pods()]);
        const check = await checkCluster(object, found);
        const isHealthy = check.t === "healthy";
        if (isHealthy && (await isOver()) && (await areReported(cluster, found))) return check.cluster;
        because = isHealthy ? "healthy, and not over, or a kubelet has yet to report a restart" : check.because;
        const text = found.map(traceOf).toSorted().join();
        return text === pods ? undefined : text;
      },
      { timeoutMs: patience, everyMs: 250, lastSeen: () => because },
    );
    if (typeof seen !== "string") return seen;
    pods = seen;
  }
  throw new Error(`${cluster.name} never settles: ${mostChanges} changes of its pods; last seen: ${because}`);
}

/** Changes with each step of a roll, and not with a container that restarts again and again. */
function traceOf({ metadata, spec, status }: Pod): string {
  const isReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  return `${metadata?.uid} ${metadata?.deletionTimestamp} ${spec?.containers[0]?.image} ${isReady}`;
}

/** A pod and what its etcd answers; undefined while it does not. */
export interface RollingMember {
  readonly name: string;
  readonly pod: Pod;
  readonly version: string | undefined;
}

/** Without pods that terminate. */
export async function rollingMembers(cluster: TestCluster): Promise<RollingMember[]> {
  const pods = (await cluster.pods()).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  return Promise.all(
    pods.map(async (pod) => {
      const asked = memberAt(pod.status?.podIP ?? "").status({ deadline: 1_000 });
      return {
        name: pod.metadata?.name ?? "",
        pod,
        version: await asked.then(({ version }) => version).catch(() => undefined),
      };
    }),
  );
}

export interface HalfRolled {
  /** Names. */
  readonly updated: readonly string[];
  readonly others: readonly string[];
}

/** Waits for the middle of a roll: at least one member is updated and answers, and at least one is not. */
export async function untilHalfRolled(
  cluster: TestCluster,
  isUpdated: (member: RollingMember) => boolean,
): Promise<HalfRolled> {
  let seen = "";
  return waitFor(
    `${cluster.name}: some members updated, and some not`,
    async () => {
      const members = await rollingMembers(cluster);
      seen = members.map(({ pod, version }) => `${podText(pod)} ${version ?? "silent"}`).join(", ");
      const updated = members.filter((member) => member.version !== undefined && isUpdated(member));
      const others = members.filter((member) => !isUpdated(member));
      const names = (of: readonly RollingMember[]): string[] => of.map(({ name }) => name);
      return updated.length > 0 && others.length > 0 ? { updated: names(updated), others: names(others) } : undefined;
    },
    { timeoutMs: patience, everyMs: 50, lastSeen: () => seen },
  );
}

export const runs =
  (version: string) =>
  (member: RollingMember): boolean =>
    member.version === version;
