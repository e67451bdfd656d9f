// What is changed in pods that run, and the small pods that prove an image before it. Each write is about this very pod.
import { fieldManager } from "../../api/field-manager.ts";
import { has } from "../../etcd/versions/features.ts";
import { isAlreadyExists } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { isHealthy } from "../assess/seats.ts";
import { foundVersionAnnotation, imageCheck, printedVersion } from "../objects/image-check.ts";
import { changedFromAnnotation, etcdContainer, versionAnnotation } from "../objects/member-pod.ts";
import type { ActionOf } from "../plan/actions.ts";
import { type Execution, portTo } from "./execution.ts";
import { askingEtcd, NotYet, Refused, whileCacheIsBehindMs } from "./outcome.ts";

export async function relabelPod({ pass, cluster }: Execution, action: ActionOf<"relabelPod">): Promise<void> {
  const { member, uid, change } = action;
  const key = { namespace: cluster.metadata.namespace, name: member };
  await pass.api.mergePatch(Pod, key, { metadata: { uid, ...change } }, { fieldManager });
}

export async function createImageCheck(execution: Execution, action: ActionOf<"createImageCheck">): Promise<void> {
  const pod = imageCheck(execution.assessment.world.cluster, action.node, action.image);
  try {
    await execution.pass.api.create(Pod, pod, { fieldManager });
  } catch (error) {
    // Of the same image on the same node, from before: it has yet to go.
    if (isAlreadyExists(error)) throw new NotYet("the last try of the image is still there", whileCacheIsBehindMs);
    throw error;
  }
}

/** `etcd --version` prints a few lines. */
const longestLog = 4096;

export async function readImageCheck({ pass, cluster }: Execution, action: ActionOf<"readImageCheck">): Promise<void> {
  const key = { namespace: cluster.metadata.namespace, name: action.name };
  const log = await pass.api.log(key, { container: etcdContainer, limitBytes: longestLog });
  const annotations = { [foundVersionAnnotation]: printedVersion(log) ?? "" };
  await pass.api.mergePatch(Pod, key, { metadata: { uid: action.uid, annotations } }, { fieldManager });
}

export async function deleteImageCheck(
  { pass, cluster }: Execution,
  action: ActionOf<"deleteImageCheck">,
): Promise<void> {
  const key = { namespace: cluster.metadata.namespace, name: action.name };
  await pass.api.delete(Pod, key, { uid: action.uid });
}

/** From the pod as it is now: the cache keeps only a part of it, and a list of containers is replaced as a whole. */
export async function changeImage(execution: Execution, action: ActionOf<"changeImage">): Promise<void> {
  const { cluster, pass } = execution;
  const { member, uid, from, to, afterComparing } = action;
  if (afterComparing) await compareMembers(execution);
  const live = await pass.api.get(Pod, { namespace: cluster.metadata.namespace, name: member });
  if (live.metadata?.uid !== uid || live.spec === undefined)
    throw new NotYet(`the pod ${member} is another one than was looked at`, whileCacheIsBehindMs);
  const containers = live.spec.containers.map((container) =>
    container.name === etcdContainer ? { ...container, image: to.image } : container,
  );
  const annotations = {
    ...live.metadata.annotations,
    [versionAnnotation]: to.version,
    [changedFromAnnotation]: JSON.stringify(from),
  };
  const wanted = { ...live, metadata: { ...live.metadata, annotations }, spec: { ...live.spec, containers } };
  await pass.api.replace(Pod, wanted, { fieldManager });
}

/** Members that hold different data must be found before they are restarted one after another. */
async function compareMembers(execution: Execution): Promise<void> {
  const { voters, version } = execution.assessment;
  const revisions = voters.flatMap(({ answer }) => (answer === undefined ? [] : [answer.status.revision]));
  if (!has(version, "hashKv") || !voters.every(isHealthy)) return;
  const revision = Math.min(...revisions);
  const hashes = await Promise.all(
    voters.map(async ({ name, member }) => {
      const asked = portTo(execution, member);
      if (asked === undefined) throw new NotYet(`${name} cannot be asked for its hash`);
      const { hash, compactRevision } = await askingEtcd(asked.hashKv(revision, { signal: execution.pass.signal }));
      return { name, hash, compactRevision };
    }),
  );
  const [first, ...others] = hashes;
  // Hashes of histories that were compacted differently cannot be compared; a moment later they can.
  if (others.some(({ compactRevision }) => compactRevision !== first?.compactRevision))
    throw new NotYet("the members are compacting", 1000);
  const differing = others.filter(({ hash }) => hash !== first?.hash);
  if (differing.length > 0)
    throw new Refused(
      `${first?.name} and ${differing.map(({ name }) => name).join(", ")} hold different data at revision ${revision}, so no member is restarted. Find out which of them is right, replace the others by deleting their pods, or restore a backup.`,
    );
}

/** Its annotation goes, and with it the operator's patience with a member that does not come up. */
export async function confirmChange({ pass, cluster }: Execution, action: ActionOf<"confirmChange">): Promise<void> {
  const key = { namespace: cluster.metadata.namespace, name: action.member };
  const annotations = { [changedFromAnnotation]: null };
  await pass.api.mergePatch(Pod, key, { metadata: { uid: action.uid, annotations } }, { fieldManager });
}
