// Waits for the nodes of the lab.
import { waitFor } from "../../../lab/progress.ts";
import { Node } from "../../../src/kube/objects/kinds.ts";
import { kube, lab, patience } from "./environment.ts";

export async function nodesReady(): Promise<void> {
  let seen = "";
  await waitFor(
    "all nodes to be ready",
    async () => {
      const { items } = await kube.list(Node);
      const unready = items.filter((node) => !isReady(node));
      seen = `${items.length} of ${lab.nodes} nodes, not ready: ${unready.map(({ metadata }) => metadata?.name).join(", ")}`;
      // One whose object was deleted registers again.
      return (items.length === lab.nodes && unready.length === 0) || undefined;
    },
    { timeoutMs: patience, lastSeen: () => seen },
  );
}

const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false;
