// Waits for a rolling change: for its end, and for the moment at which some members are updated and others are not.
import { waitFor } from "../../../lab/progress.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "../support/cluster.ts";
import { patience } from "../support/environment.ts";
import { areReported } from "../support/member-process.ts";
import { checkCluster, memberAt, podText, type HealthyCluster } from "../support/healthy.ts";
import { traceOf, whileItMoves } from "../support/moving.ts";

/**
 * Waits until the cluster is healthy and Ready, `isOver`, and kubelets have reported the containers that run. A roll takes long,
 * so only one that does not move for a while fails.
 */
export async function untilRolled(
  cluster: TestCluster,
  isOver: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<HealthyCluster> {
  let because = "nothing yet";
  return whileItMoves(
    `${cluster.name} to be healthy, or the next change of a pod`,
    async () => {
      const [object, found] = await Promise.all([cluster.get(), cluster.pods()]);
      const check = await checkCluster(object, found);
      const isHealthy = check.t === "healthy";
      if (isHealthy && (await isOver()) && (await areReported(cluster, found)))
        return { t: "over", result: check.cluster };
      because = isHealthy ? "healthy, and not over, or a kubelet has yet to report a restart" : check.because;
      return { t: "going on", trace: traceOf(found) };
    },
    () => because,
  );
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
      const asked = memberAt(pod.status?.podIP ?? "").status({ deadline: 3_000 });
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
