// How each change is asked for, and by what one sees that it was made.
import { EtcdBackup } from "../../src/api/etcd-backup/etcd-backup.ts";
import { EtcdRestore } from "../../src/api/etcd-restore/etcd-restore.ts";
import { Deployment, Secret } from "../../src/kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../../src/kube/objects/objects.ts";
import { waitFor } from "../../lab/progress.ts";
import type { Verdict } from "../../test/robustness/judge.ts";
import { operatorName, untilOperatorReady } from "../ground.ts";
import { answerWithin, insist, insistOnMaking } from "../insist.ts";
import { type Content, failed, passed, restoreVerdict } from "../judging/checks.ts";
import type { Scene } from "../scene.ts";
import { flags, nameOf, speaksTls } from "../subject/subject.ts";
import { type ChangeName, changes } from "./list.ts";

/** To be asked when the cluster is healthy again. */
export type Ending = () => Promise<Verdict>;
type Begin = (scene: Scene) => Promise<Ending>;

const flag = "--max-request-bytes=2000000";
const patienceMs = 300_000;

export const begin: Readonly<Record<ChangeName, Begin>> = {
  none: async () => async () => passed,
  "scale-1-3": scale,
  "scale-3-5": scale,
  "scale-5-3": scale,
  "scale-3-1": scale,
  "upgrade-3.6": upgrade,
  "upgrade-3.7": upgrade,
  setting: async ({ subject }) => {
    await subject.edit({ spec: { etcd: { extraArgs: [...flags, flag] } } });
    return async () =>
      allOf(
        subject.pods.map((pod) => [nameOf(pod), pod.spec?.containers[0]?.command?.includes(flag) ?? false]),
        `without ${flag}`,
      );
  },
  "rotate-ca": rotate,
  "tls-on": (scene) => secure(scene, true),
  "tls-off": (scene) => secure(scene, false),
  backup: async (scene) => {
    const name = `${scene.subject.key.name}-backup`;
    await takeBackup(scene, name);
    return () => succeeded(scene, EtcdBackup, name);
  },
  restore: restoreInPlace,
  "pause-resume": async ({ subject }) => {
    await subject.edit({ spec: { paused: true } });
    await untilSeen(() => subject.object?.status?.controlPaused === true, "the cluster to be paused");
    return async () => {
      await subject.edit({ spec: { paused: false } });
      await untilSeen(() => subject.object?.status?.controlPaused !== true, "the cluster to be resumed");
      return passed;
    };
  },
  "restart-operator": async ({ ground }) => {
    const restartedAt = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() };
    const key = { namespace: ground.namespace, name: operatorName };
    const patch = { spec: { template: { metadata: { annotations: restartedAt } } } };
    await insist(ground.signal, () => ground.api.mergePatch(Deployment, key, patch, answerWithin));
    return async () => {
      await untilOperatorReady(ground);
      return passed;
    };
  },
};

function allOf(each: readonly (readonly [name: string, holds: boolean])[], what: string): Verdict {
  const not = each.filter(([, holds]) => !holds).map(([name]) => name);
  return not.length === 0 ? passed : failed(`${what}: ${not.join(", ")}`);
}

async function untilSeen(look: () => boolean, what: string): Promise<void> {
  await waitFor(what, async () => look() || undefined, { timeoutMs: patienceMs, everyMs: 100 });
}

async function scale({ subject, round }: Scene): Promise<Ending> {
  const size = changes[round.change].sizes?.[1] ?? round.size;
  await subject.edit({ spec: { size } });
  return async () => (subject.pods.length === size ? passed : failed(`${subject.pods.length} members, not ${size}`));
}

async function upgrade({ subject, round }: Scene): Promise<Ending> {
  const version = changes[round.change].versions?.[1] ?? round.version;
  await subject.edit({ spec: { version } });
  return async () =>
    allOf(
      await Promise.all(
        subject.pods.map(
          async (pod) => [nameOf(pod), (await subject.member(pod).status()).version === version] as const,
        ),
      ),
      `not at ${version}`,
    );
}

/** Until members trust the new CA. That they forget the old one comes minutes later, and is not waited for. */
async function rotate({ ground, subject }: Scene): Promise<Ending> {
  const authority = async (): Promise<string | undefined> => {
    const { namespace, name } = subject.key;
    const { data } = await insist(ground.signal, () =>
      ground.api.get(Secret, { namespace, name: `${name}-peer-ca` }, answerWithin),
    );
    return data?.["ca.crt"];
  };
  const before = await authority();
  await subject.edit({
    metadata: { annotations: { "etcd.database.coreos.com/rotate-ca": String(Date.now()) } },
  });
  return async () => ((await authority()) === before ? failed("the CA is the same as before") : passed);
}

async function secure({ subject }: Scene, on: boolean): Promise<Ending> {
  await subject.edit({ spec: { TLS: on ? { auto: true } : null } });
  return async () =>
    allOf(
      subject.pods.map((pod) => [nameOf(pod), speaksTls(pod) === on]),
      on ? "without TLS" : "still with TLS",
    );
}

async function takeBackup({ ground, subject }: Scene, name: string): Promise<void> {
  const { name: cluster, namespace } = subject.key;
  const spec = ground.bucket.backupOf(cluster, `${namespace}/${name}`);
  await insistOnMaking(ground.signal, () =>
    ground.api.create(EtcdBackup, { metadata: { namespace, name }, spec }, answerWithin),
  );
}

interface EndingObject extends KubeObject {
  status?: { phase?: string; message?: string; reason?: string };
}

async function succeeded<T extends EndingObject>(
  { ground, subject }: Scene,
  kind: Kind<T>,
  name: string,
): Promise<Verdict> {
  let seen = "nothing";
  const { namespace } = subject.key;
  const status = await waitFor(
    `${kind.kind} ${name} to be over`,
    async () => {
      ground.signal.throwIfAborted();
      const { status = {} } = await ground.api.get(kind, { namespace, name }, answerWithin);
      seen = JSON.stringify(status);
      return status.phase === "Succeeded" || status.phase === "Failed" ? status : undefined;
    },
    { timeoutMs: patienceMs, everyMs: 250, lastSeen: () => seen },
  );
  return status.phase === "Succeeded" ? passed : failed(`${kind.kind} failed: ${JSON.stringify(status)}`);
}

/** Nobody writes between the reading and the backup, so that its content is known to the key. */
async function restoreInPlace(scene: Scene): Promise<Ending> {
  const { ground, subject } = scene;
  const { name, namespace } = subject.key;
  const backup = `${name}-backup`;
  const backedUp = await contentOf(scene);
  await takeBackup(scene, backup);
  const taken = await succeeded(scene, EtcdBackup, backup);
  if (taken.status !== "passed") return async () => taken;
  const [pod] = subject.pods;
  if (pod === undefined) throw new Error("there is no member");
  let before = 0;
  for (let at = 0; at < 20; at += 1)
    before = (await subject.member(pod).put(`later/${at}`, "not in the backup")).revision;
  const spec = { etcdCluster: { name }, backup: { name: backup } };
  await insistOnMaking(ground.signal, () =>
    ground.api.create(EtcdRestore, { metadata: { namespace, name }, spec }, answerWithin),
  );
  return async () => {
    const restored = await succeeded(scene, EtcdRestore, name);
    if (restored.status !== "passed") return restored;
    await subject.untilHealthy();
    return restoreVerdict(backedUp, before, await contentOf(scene));
  };
}

async function contentOf({ subject }: Scene): Promise<Content> {
  const [pod] = subject.pods;
  if (pod === undefined) throw new Error("there is no member");
  const { revision, keys } = await subject.member(pod).list("", {}, { deadline: 30_000 });
  return { revision, keys: keys.map(({ key, value }) => [key, Buffer.from(value).toString()] as const) };
}
