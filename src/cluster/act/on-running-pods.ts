// What is changed in pods that run, and the small pods that prove an image before it. Each write is about this very pod.
import { has } from "../../etcd/versions/features.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { isHealthy } from "../assess/instances.ts";
import { imageAnnotation } from "../objects/claims.ts";
import { foundVersionAnnotation, imageCheck, printedVersion } from "../objects/image-check.ts";
import { changedFromAnnotation, etcdContainer, versionAnnotation } from "../objects/member-pod.ts";
import {
  formatStartedAgain,
  otherReference,
  startedAgainAnnotation,
  startedAgainIn,
} from "../objects/image-reference.ts";
import { trustAnnotations } from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import { type ClusterExecution, forgetReads, patchPod, portTo } from "./execution.ts";
import { askingEtcd } from "./outcome.ts";
import { podNow } from "./preconditions.ts";
import { makeImageCheck, replacePod } from "./taken-away.ts";
import { delays } from "../../controllers/delays.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";

export async function relabelPod(
  execution: ClusterExecution,
  { member, uid, change }: ActionOf<"relabelPod">,
): Promise<void> {
  await patchPod(execution, { name: member, uid }, change);
}

export async function createImageCheck(
  execution: ClusterExecution,
  action: ActionOf<"createImageCheck">,
): Promise<void> {
  await makeImageCheck(execution, imageCheck(execution.assessment.world.cluster, action.node, action.image));
}

/** `etcd --version` prints a few lines. */
const longestLog = 4096;

export async function readImageCheck(execution: ClusterExecution, action: ActionOf<"readImageCheck">): Promise<void> {
  const { cluster, reconcile } = execution;
  const key = { namespace: cluster.metadata.namespace, name: action.name };
  const log = await reconcile.api.log(key, { container: etcdContainer, limitBytes: longestLog });
  const annotations = { [foundVersionAnnotation]: printedVersion(log) ?? "" };
  await patchPod(execution, action, { annotations });
}

export async function deleteImageCheck(
  { reconcile, cluster }: ClusterExecution,
  action: ActionOf<"deleteImageCheck">,
): Promise<void> {
  const key = { namespace: cluster.metadata.namespace, name: action.name };
  await reconcile.api.delete(Pod, key, { uid: action.uid });
}

/** From the pod as it is now: the cache keeps only a part of it, and a list of containers is replaced as a whole. */
export async function changeImage(execution: ClusterExecution, action: ActionOf<"changeImage">): Promise<void> {
  const { member, uid, from, to, afterComparing } = action;
  if (afterComparing) {
    await compareMembers(execution);
    // Which may take a while.
    forgetReads(execution);
  }
  const pod = await podNow(execution, member, uid);
  const containers = (pod.spec?.containers ?? []).map((container) =>
    container.name === etcdContainer ? { ...container, image: to.image } : container,
  );
  const annotations = {
    ...pod.metadata?.annotations,
    [versionAnnotation]: to.version,
    [imageAnnotation]: to.image,
    [changedFromAnnotation]: JSON.stringify(from),
  };
  const wanted = { ...pod, metadata: { ...pod.metadata, annotations }, spec: { ...pod.spec, containers } };
  await replacePod(execution, wanted);
}

/**
 * By another reference of the image that it runs; where that was done before, by the one that was asked for. Both are the same
 * image, so its version stays.
 */
export async function startAgain(execution: ClusterExecution, action: ActionOf<"startAgain">): Promise<void> {
  const { member, uid, tls } = action;
  const live = await podNow(execution, member, uid);
  const { annotations = {} } = live.metadata ?? {};
  const container = live.spec?.containers.find(({ name }) => name === etcdContainer);
  if (live.spec === undefined || container === undefined)
    throw new NotYet(`the pod ${member} has no container ${etcdContainer}`, delays.cacheIsBehind);
  const { image: now = "" } = container;
  const status = live.status?.containerStatuses?.find(({ name }) => name === etcdContainer);
  const before = startedAgainIn(annotations[startedAgainAnnotation], now);
  const image = before?.asked ?? otherReference(now, status?.imageID ?? "");
  if (image === undefined)
    throw new Refused(
      `${member} has to be started again to read its CA, but its node does not report which image it runs (${status?.imageID}). End its process, for example with kubectl debug --target=etcd; deleting the pod would cost its data where it has no volume.`,
    );
  const noted = { asked: before?.asked ?? now, reference: image, restarts: status?.restartCount ?? 0 };
  const containers = live.spec.containers.map((one) => (one === container ? { ...one, image } : one));
  const metadata = {
    ...live.metadata,
    annotations: { ...annotations, ...trustAnnotations(tls), [startedAgainAnnotation]: formatStartedAgain(noted) },
  };
  await replacePod(execution, { ...live, metadata, spec: { ...live.spec, containers } });
}

/** Members that hold different data must be found before they are restarted one after another. */
async function compareMembers(execution: ClusterExecution): Promise<void> {
  const { voters, version } = execution.assessment;
  const revisions = voters.flatMap(({ answer }) => (answer === undefined ? [] : [answer.status.revision]));
  if (!has(version, "hashKv") || !voters.every(isHealthy)) return;
  const revision = Math.min(...revisions);
  const hashes = await Promise.all(
    voters.map(async ({ name, member }) => {
      const asked = portTo(execution, member);
      if (asked === undefined) throw new NotYet(`${name} cannot be asked for its hash`);
      const { hash, compactRevision } = await askingEtcd(
        asked.hashKv(revision, { signal: execution.reconcile.signal }),
      );
      return { name, hash, compactRevision };
    }),
  );
  const [first, ...others] = hashes;
  // Hashes of histories that were compacted differently cannot be compared; a moment later they can.
  if (others.some(({ compactRevision }) => compactRevision !== first?.compactRevision))
    throw new NotYet("the members are compacting", delays.untilSettled);
  const differing = others.filter(({ hash }) => hash !== first?.hash);
  if (differing.length > 0)
    throw new Refused(
      `${first?.name} and ${differing.map(({ name }) => name).join(", ")} hold different data at revision ${revision}, so no member is restarted. Find out which of them has the right data, replace the others by deleting their pods, or restore a backup.`,
    );
}

/** Its annotation goes, and with it the operator's patience with a member that does not come up. */
export async function confirmChange(
  execution: ClusterExecution,
  { member, uid }: ActionOf<"confirmChange">,
): Promise<void> {
  await patchPod(execution, { name: member, uid }, { annotations: { [changedFromAnnotation]: null } });
}
