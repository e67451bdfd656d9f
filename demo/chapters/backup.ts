// Chapter 6: a backup into a volume of the default StorageClass, and the proof that it can be restored.
import { isForbidden } from "../../src/kube/client/errors.ts";
import { StorageClass } from "../../src/kube/objects/kinds.ts";
import { green } from "../../lab/progress.ts";
import { failureOf, isDefault, isVerified } from "../backup-state.ts";
import { applyLine, backup, manifests } from "../names.ts";
import { chapter, type Story, timeoutMs } from "../story.ts";
import { showLine, tell, type } from "../typed.ts";
import { moreWrites } from "./more-writes.ts";

/** Everything up to this revision is in the backup. Undefined: there is no volume to keep one in. */
export async function backUp(story: Story): Promise<number | undefined> {
  const { view, writer, signal, done } = story;
  chapter("6. A backup, into a volume");
  if (!(await hasDefaultClass(story))) {
    await type("kubectl get storageclass -o name", { signal });
    tell("No StorageClass is the default one, so there is no volume to keep a backup in: the story ends here.");
    await writer.stop();
    return undefined;
  }
  const before = writer.acknowledged.at(-1);
  await type(applyLine(manifests.backup), { signal });
  await type(`kubectl annotate etcdbackup ${backup} etcd.database.coreos.com/backup-now=demo`, { signal });
  showLine(`kubectl wait --for=condition=Verified etcdbackup/${backup}`);
  const tookMs = await view.waitInLine(
    {
      until: "the backup is there, and verified",
      holds: () => isVerified(view.backup),
      fails: () => failureOf(view.backup),
      timeoutMs,
      stage: () => view.backup?.status?.message ?? "",
    },
    signal,
  );
  // The revision of the member that was made from it. `status.etcdRevision` was read beside the snapshot: it may be lower.
  const revision = view.backup?.status?.lastVerified?.revision;
  if (revision === undefined) throw new Error("The EtcdBackup does not say which revision it was restored to.");
  if (before !== undefined && before.revision > revision)
    throw new Error(
      `Revision ${before.revision} was acknowledged before the backup, which ends with ${revision}: this is a bug.`,
    );
  done.push({ what: "backed up, and restored to verify it", tookMs });
  tell(`It holds everything up to revision ${revision}, and was restored once to prove it.`, green);
  tell("The client writes on. No backup has what comes after it:");
  await moreWrites(story);
  await writer.stop();
  return revision;
}

async function hasDefaultClass({ place, signal }: Story): Promise<boolean> {
  try {
    const { items } = await place.api.list(StorageClass, { signal });
    return items.some(isDefault);
  } catch (error) {
    if (isForbidden(error)) return true; // who may not read it may still use it
    throw error;
  }
}
