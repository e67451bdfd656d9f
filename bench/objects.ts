// Many small objects, each unlike the others, so that nothing that holds them can share.
import type { KubeApi } from "../src/kube/client/api.ts";
import { ConfigMap } from "../src/kube/objects/kinds.ts";

const atOnce = 20;
const settings = 52;

/** About 2 KB as JSON, without what the server notes about who wrote it. */
export function smallObject(namespace: string, index: number): ConfigMap {
  const name = `object-${String(index).padStart(5, "0")}`;
  const lines = Array.from(
    { length: settings },
    (_, line) => `setting-${line} = value ${index * settings + line} of it`,
  );
  const labels = { app: "bench", group: `group-${index % 100}` };
  return { metadata: { namespace, name, labels }, data: { "settings.conf": lines.join("\n") } };
}

export async function makeObjects(api: KubeApi, namespace: string, count: number, signal: AbortSignal): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await api.create(ConfigMap, smallObject(namespace, index), { signal });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
