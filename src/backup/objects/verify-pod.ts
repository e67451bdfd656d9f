// The pod that verifies a backup: it restores it into a throwaway member that nobody else can reach, and a worker compares
// what that member serves with what the backup says of itself.
import type { Container, PodSpec } from "kubernetes-types/core/v1.js";
import type { CompleteEtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { type CompleteEtcdCluster, imageOf, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { imagePrograms } from "../../etcd/versions/features.ts";
import type { RestoreJob, VerifyJob } from "../../worker/job.ts";
import { encryptionOf, folders, volumesOf } from "../../worker/mounts.ts";
import { limited, memberScratchOf, scratchOf } from "../../worker/scratch.ts";
import {
  containerSecurity,
  podBasics,
  restoreContainer,
  scratchVolume,
  workerContainer,
  type WorkerTask,
} from "../../worker/pod.ts";
import { keyIn, type Origin, placeIn, stalledAfter } from "./jobs.ts";

const member = "verify";
const clientUrl = "http://127.0.0.1:2379";
const peerUrl = "http://127.0.0.1:2380";
const dataVolume = "data";
const dataMount = { name: dataVolume, mountPath: "/var/etcd" };
const dataDir = "/var/etcd/data";

interface Verification {
  readonly task: WorkerTask<VerifyJob>;
  /** Spec of the pod: with the member beside the worker. */
  readonly spec: PodSpec;
}

/** Undefined: the backup is in another place than the spec names by now. */
export function verification(
  backup: CompleteEtcdBackup,
  run: { readonly id: string; readonly path?: string },
  origin: Origin,
  image: string,
): Verification | undefined {
  const { spec, status } = backup;
  const { path = "" } = run;
  const { lastBackup } = status;
  const place = placeIn(backup);
  const key = keyIn(place, path);
  if (key === undefined || lastBackup?.path !== path) return undefined;
  const { etcdVersion = "", sha256 = "", sizeBytes, keyId } = lastBackup;
  // The status says how it was made, and its sha256 that it is still the same: encryption may have been turned on since.
  const sealed = encryptionOf(spec.encryption && { ...spec.encryption, allowUnencrypted: keyId === undefined }, place);
  const mounts = [...place.mounts, ...sealed.mounts];
  const stalledAfterSeconds = stalledAfter(backup);
  const restore: RestoreJob = {
    do: "restore",
    store: place.target,
    key,
    sha256,
    ...(sizeBytes !== undefined && { expectedBytes: sizeBytes }),
    ...(sealed.encryption !== undefined && { encryption: sealed.encryption }),
    targetVersion: etcdVersion,
    member: { name: member, peerUrl },
    token: run.id,
    dataDir,
    bumpRevision: 0,
    stalledAfterSeconds,
  };
  const reached = origin.t === "reached" ? origin : undefined;
  // What was restored has the users of what was backed up.
  const login = reached?.reached.mounts.filter(({ folder }) => folder === folders.login) ?? [];
  const verify: VerifyJob = {
    do: "verify",
    endpoint: clientUrl,
    store: place.target,
    key,
    ...(login.length > 0 && { loginFolder: folders.login }),
    stalledAfterSeconds,
  };
  const { resources, scratchSize } = spec.worker;
  const scratch = scratchOf(restore, spec.worker);
  const restoring = workerContainer({
    image,
    job: restore,
    mounts,
    resources,
    scratchSize,
    name: restoreContainer,
  });
  return {
    task: { job: verify, mounts: [...mounts, ...login] },
    spec: {
      ...podBasics(spec.worker),
      initContainers: [{ ...restoring, volumeMounts: [...(restoring.volumeMounts ?? []), dataMount] }],
      containers: [
        workerContainer({ image, job: verify, mounts: [...mounts, ...login], resources }),
        throwawayMember(spec.verify.image ?? etcdImage(reached?.cluster, etcdVersion), run.id, resources),
      ],
      volumes: [
        ...volumesOf([...mounts, ...login]),
        { name: scratchVolume, emptyDir: limited(scratch) },
        { name: dataVolume, emptyDir: limited(memberScratchOf(scratch)) },
      ],
    },
  };
}

/** Where the members' image comes from, there is one of the version that was backed up. */
function etcdImage(cluster: CompleteEtcdCluster | undefined, version: string): string {
  const { spec } = cluster ?? withDefaults({ spec: { size: 1 } });
  const { image, ...rest } = spec;
  return imageOf(image !== undefined && spec.version === version ? spec : { ...rest, version });
}

function throwawayMember(image: string, token: string, resources: Container["resources"]): Container {
  return {
    name: "etcd",
    image,
    command: [
      imagePrograms.etcd,
      `--name=${member}`,
      `--data-dir=${dataDir}`,
      `--listen-client-urls=${clientUrl}`,
      `--advertise-client-urls=${clientUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=${member}=${peerUrl}`,
      `--initial-cluster-token=${token}`,
    ],
    volumeMounts: [dataMount],
    securityContext: containerSecurity,
    ...(resources !== undefined && { resources }),
  };
}
