// What admission takes away from pods that the operator makes or changes: the annotations in which it keeps what it asked for,
// and the labels by which it finds the pods that try an image. Such a pod differs for ever from what was asked for. So it is
// said, and the next one is asked for after a while: twice as long each time, until one comes out whole.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { isAlreadyExists } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { keyOf, keyText } from "../../kube/objects/objects.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { imageAnnotation } from "../objects/claims.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { etcdContainer, settingsAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import type { ClusterExecution } from "./execution.ts";
import { backoffs, delays } from "../../controllers/delays.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";
import { backoffDelay } from "../../kube/clock.ts";

interface Loss {
  readonly sentence: string;
  readonly until: number;
  /** In a row. */
  readonly times: number;
}

export class TakenAway {
  /** By namespace and name of the cluster. */
  readonly #losses = new Map<string, Loss>();

  /** Throws Refused where something was taken away a moment ago. */
  mayAsk(cluster: string, now: number): void {
    const last = this.#losses.get(cluster);
    if (last !== undefined && now < last.until) throw new Refused(last.sentence);
  }

  /** Throws Refused where something of it was taken away. */
  compare(cluster: string, asked: Pod, made: Pod, now: number): void {
    const lost = lostIn(asked, made);
    if (lost.length === 0) {
      this.#losses.delete(cluster);
      return;
    }
    const last = this.#losses.get(cluster);
    const times = (last?.times ?? 0) + 1;
    const sentence = `admission changes what the operator writes on its pods (${lost.join(", ")}), so what was asked for cannot be compared with what is there. Exempt the operator's pods from the webhook or policy that does this. The operator tries again later.`;
    this.#losses.set(cluster, { sentence, until: now + backoffDelay(backoffs.takenAway, times, 0), times });
    throw new Refused(sentence);
  }

  forget(cluster: string): void {
    this.#losses.delete(cluster);
  }
}

/** A member that has lost its labels is given them again; what tries an image lives too shortly for that. */
function lostIn(asked: Pod, made: Pod): readonly string[] {
  const notes = Object.entries(asked.metadata?.annotations ?? {})
    .filter(([name, value]) => isNeeded(name, asked, made) && made.metadata?.annotations?.[name] !== value)
    .map(([name]) => `the annotation ${name}`);
  const labels = Object.entries((isImageCheck(asked) && asked.metadata?.labels) || {})
    .filter(([name, value]) => made.metadata?.labels?.[name] !== value)
    .map(([name]) => `the label ${name}`);
  return [...notes, ...labels];
}

/** A pod that does not say what it was made from is not known to differ, and an image that came out as it was asked for says itself. */
function isNeeded(annotation: string, asked: Pod, made: Pod): boolean {
  if (annotation === settingsAnnotation) return false;
  if (annotation === imageAnnotation) return imageOf(asked) !== imageOf(made);
  return annotation === versionAnnotation || annotation.startsWith(`${EtcdCluster.group}/`);
}

const imageOf = ({ spec }: Pod): string | undefined =>
  spec?.containers.find(({ name }) => name === etcdContainer)?.image;

/** One that is there already is another, and is somebody else's to judge. */
export async function makePod({ cluster, context, reconcile }: ClusterExecution, pod: Pod): Promise<Pod> {
  const key = keyText(keyOf(cluster));
  context.takenAway.mayAsk(key, context.now());
  const made = await reconcile.api.create(Pod, pod, { fieldManager });
  context.takenAway.compare(key, pod, made, context.now());
  return made;
}

export async function replacePod({ cluster, context, reconcile }: ClusterExecution, pod: Pod): Promise<void> {
  const key = keyText(keyOf(cluster));
  context.takenAway.mayAsk(key, context.now());
  context.takenAway.compare(key, pod, await reconcile.api.replace(Pod, pod, { fieldManager }), context.now());
}

/**
 * The same of a pod whose name says what it is for. One that is there without its labels is seen by no cache, so it is found and
 * taken away here.
 */
export async function makeImageCheck(execution: ClusterExecution, pod: Pod): Promise<void> {
  try {
    await makePod(execution, pod);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { cluster, reconcile } = execution;
    const there = await reconcile.api.get(Pod, keyOf(pod));
    if (!isControlledBy(there, cluster)) throw error;
    const { uid } = there.metadata ?? {};
    if (!isImageCheck(there) || lostIn(pod, there).length > 0)
      await reconcile.api.delete(Pod, keyOf(pod), uid === undefined ? {} : { uid });
    // It tried the same image on the same node before: it has yet to go.
    throw new NotYet("the last try of the image is still there", delays.cacheIsBehind);
  }
}
