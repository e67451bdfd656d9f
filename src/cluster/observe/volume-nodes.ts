// Where the volume of a member that waits for a node can be used. The volume itself says it, and no list of volumes is kept: it
// is read when its member waits and the node that it was made for is not there. Where it may not be read, the scheduler has
// looked at it. A volume that nothing is known of can be used anywhere, for all that is known: no data is given up on a guess.
import type { NodeSelectorTerm } from "kubernetes-types/core/v1.js";
import type { StoreView } from "../../kube/cache/store.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { type Node, PersistentVolume, type PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import { observedNode } from "./pods.ts";
import type { MemberPod, PodNode } from "./world.ts";

/** The scheduler writes it on a claim whose volume is made for a pod: where that pod was to run. Volumes may move since. */
const selectedNode = "volume.kubernetes.io/selected-node";

const anywhere: PodNode = { t: "none" };

interface NodeReading {
  readonly api: KubeApi;
  /** Undefined: the operator may not see nodes. */
  readonly nodes: StoreView<Node> | undefined;
  readonly signal: AbortSignal;
}

/** The node without which the volume cannot be used; none: it can be, for all that is known. */
export async function volumeNode(
  claim: PersistentVolumeClaim,
  pod: MemberPod | undefined,
  { api, nodes, signal }: NodeReading,
): Promise<PodNode> {
  if (pod?.state.t !== "pending" || pod.terminating) return anywhere;
  const madeFor = claim.metadata?.annotations?.[selectedNode];
  const fitsNowhere = saysThatVolumeFitsNowhere(pod.state.problem ?? "");
  if (!fitsNowhere && observedNode(madeFor, nodes).t !== "silent" && observedNode(madeFor, nodes).t !== "gone")
    return anywhere;
  const places = await placesOf(claim.spec?.volumeName, madeFor, { api, nodes, signal });
  if (places.t === "anywhere") return anywhere;
  if (places.t === "nodes" && places.names.includes(madeFor ?? "")) return bestOf(places.names, nodes);
  // The names are labels, which may differ from those of nodes, or nobody may read them.
  return fitsNowhere ? { t: "gone", name: madeFor ?? "" } : anywhere;
}

type Places =
  /** Wherever the storage reaches, as in a zone. Nodes come and go there. */
  | { readonly t: "anywhere" }
  /** Local to these. */
  | { readonly t: "nodes"; readonly names: readonly string[] }
  | { readonly t: "unknown" };

async function placesOf(
  volume: string | undefined,
  madeFor: string | undefined,
  { api, nodes, signal }: NodeReading,
): Promise<Places> {
  // Who may not see nodes may not read volumes either: both belong to no namespace.
  if (volume === undefined || nodes === undefined) return { t: "unknown" };
  try {
    const { spec } = await api.get(PersistentVolume, { namespace: "", name: volume }, { signal });
    const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    const names = terms.map((term) => namesIn(term, madeFor));
    // One of several is enough.
    if (names.length === 0 || names.some((some) => some.length === 0)) return { t: "anywhere" };
    return { t: "nodes", names: names.flat() };
  } catch (error) {
    if (error instanceof ApiError) return { t: "unknown" };
    throw error;
  }
}

const hostname = "kubernetes.io/hostname";

/** Names the nodes that a term asks for by name; storage drivers have labels of their own for that. Empty: it does not. */
function namesIn(term: NodeSelectorTerm, madeFor: string | undefined): readonly string[] {
  const asked = [...(term.matchExpressions ?? []), ...(term.matchFields ?? [])];
  const named = asked.find(
    ({ key, operator, values = [] }) =>
      operator === "In" && (key === hostname || key === "metadata.name" || values.includes(madeFor ?? "")),
  );
  return named?.values ?? [];
}

/** One of them is enough; of those that are silent the one that was heard of last is waited for. */
function bestOf(names: readonly string[], nodes: StoreView<Node> | undefined): PodNode {
  const all = names.map((name) => observedNode(name, nodes));
  if (all.some(({ t }) => t === "ready")) return anywhere;
  const silent = all.filter((node) => node.t === "silent").toSorted((a, b) => b.since - a.since);
  return silent[0] ?? all[0] ?? anywhere;
}

/** In the words of the scheduler, from 1.20 on: how many of the nodes cannot use the volume. */
const conflict =
  /^(\d+) node\(s\) (?:had volume node affinity conflict|didn't match PersistentVolume's node affinity|didn't satisfy plugin\(s\) \[VolumeBinding\])/;
/** Nodes that take no members, whatever becomes of them. */
const reserved = /^(\d+) node\(s\) had (?:untolerated )?taint \{node-role\.kubernetes\.io\//;

/** Every node that would take the pod cannot use its volume. */
export function saysThatVolumeFitsNowhere(problem: string): boolean {
  const [, all = "", reasons = ""] = /\b0\/(\d+) nodes are available: (.*?)(?:\.(?: |$)|$)/.exec(problem) ?? [];
  const counts = (what: RegExp): number =>
    reasons.split(", ").reduce((sum, reason) => sum + Number(what.exec(reason)?.[1] ?? 0), 0);
  const conflicts = counts(conflict);
  return conflicts > 0 && conflicts + counts(reserved) >= Number(all);
}
