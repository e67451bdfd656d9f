// What people and their tools do to the Secrets of a cluster on a stage: lose them, damage them, bring old ones back, and
// write on them what is theirs.
import { unlessNotFound } from "../../../kube/client/get-or-undefined.ts";
import { Secret } from "../../../kube/objects/kinds.ts";
import { keyOf, keyText } from "../../../kube/objects/objects.ts";
import { theirAnnotation } from "./process-tls.ts";
import { key, type Stage } from "../stage.ts";

const ours = async ({ api }: Stage): Promise<Secret[]> =>
  (await api.list(Secret, { namespace: key.namespace, labelSelector: `etcd_cluster=${key.name}` })).items.toSorted(
    (a, b) => (keyText(keyOf(a)) < keyText(keyOf(b)) ? -1 : 1),
  );

/** `kubectl delete secret -l etcd_cluster=…`. */
export async function loseSecrets(stage: Stage): Promise<void> {
  for (const secret of await ours(stage)) await stage.api.delete(Secret, keyOf(secret)).catch(unlessNotFound);
}

/** One of them. */
export async function loseSecret(stage: Stage, who: number): Promise<void> {
  const all = await ours(stage);
  const victim = all[who % Math.max(1, all.length)];
  if (victim !== undefined) await stage.api.delete(Secret, keyOf(victim)).catch(unlessNotFound);
}

/** The keys, or the certificates, of one are those of another: they do not belong together any more. */
export async function damageSecret(stage: Stage, who: number, what: "key" | "crt"): Promise<void> {
  const all = await ours(stage);
  const victim = all[who % Math.max(1, all.length)];
  const foreign = all[(who + 1) % Math.max(1, all.length)];
  const isPart = (name: string): boolean => name.endsWith(`.${what}`) && !name.endsWith("ca.crt");
  const damaged = Object.keys(victim?.data ?? {}).filter(isPart);
  const value = Object.entries(foreign?.data ?? {}).find(([name]) => isPart(name))?.[1];
  if (victim === undefined || value === undefined) return;
  const data = Object.fromEntries(damaged.map((name) => [name, value]));
  await stage.api.mergePatch(Secret, keyOf(victim), { data });
}

export async function writeOnSecrets(stage: Stage): Promise<void> {
  const metadata = { annotations: { [theirAnnotation]: "other" } };
  for (const secret of await ours(stage)) await stage.api.mergePatch(Secret, keyOf(secret), { metadata });
}

/** What a backup tool keeps of them; it brings back what it kept, over what is there. */
export async function keepSecrets(stage: Stage): Promise<() => Promise<void>> {
  const kept = await ours(stage);
  return async () => {
    for (const secret of kept) {
      const { name, namespace, labels = {}, annotations = {}, ownerReferences = [] } = secret.metadata ?? {};
      const metadata = { labels, annotations, ownerReferences };
      const data = secret.data ?? {};
      const there = await stage.api.mergePatch(Secret, keyOf(secret), { metadata, data }).catch(unlessNotFound);
      if (there === undefined)
        await stage.api.create(Secret, {
          metadata: { name: name ?? "", namespace: namespace ?? "", ...metadata },
          data,
        });
    }
  };
}
