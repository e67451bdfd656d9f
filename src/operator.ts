// The operator itself: what it connects to, what it makes sure of first, and which controllers it runs. Three programs are
// made of the same parts: one that runs all of them, and one each for backups and for restores.
import { createHash } from "node:crypto";
import { crdOf } from "./api/crd/crd.ts";
import { installCrds } from "./api/crd/install.ts";
import { etcdBackup } from "./api/etcd-backup/kind.ts";
import { etcdCluster } from "./api/etcd-cluster/kind.ts";
import { etcdRestore } from "./api/etcd-restore/kind.ts";
import type { KindDescription } from "./api/kind-description.ts";
import { kinds } from "./api/kinds.ts";
import type { Scope } from "./api/scope.ts";
import { backupController } from "./backup/controller.ts";
import { runChaos } from "./cluster/chaos.ts";
import { clusterController } from "./cluster/controller.ts";
import type { Identity } from "./environment.ts";
import { EtcdMembers } from "./etcd/members.ts";
import type { Flags } from "./flags.ts";
import type { KubeApi } from "./kube/client/api.ts";
import { connectKube } from "./kube/client/client.ts";
import { systemClock } from "./kube/clock.ts";
import type { Credentials } from "./kube/credentials/credentials.ts";
import { EventRecorder } from "./kube/objects/events.ts";
import type { Key } from "./kube/objects/objects.ts";
import type { Logger } from "./kube/process/log.ts";
import { type RunningCache, type RunningController, runManager } from "./kube/process/manager.ts";
import { RuntimeObserver } from "./kube/process/runtime-observer.ts";
import { OwnImage } from "./own-image.ts";
import { type Program, programs } from "./programs.ts";
import { restoreController } from "./restore/controller.ts";
import { version } from "./version.ts";

interface OperatorOptions {
  readonly program: Program;
  readonly flags: Flags;
  readonly identity: Identity;
  readonly credentials: Credentials;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** What every controller is made of. */
interface Parts {
  readonly api: KubeApi;
  readonly scope: Scope;
  readonly events: EventRecorder;
  readonly observer: RuntimeObserver;
  readonly workerImage: () => string | undefined;
}

interface Job {
  /** Without its CRD the program has nothing to do. */
  readonly needs: KindDescription;
  readonly controller: RunningController;
  readonly informers: readonly RunningCache[];
}

export async function runOperator(options: OperatorOptions): Promise<void> {
  const { program, flags, identity, credentials, log, signal } = options;
  const observer = new RuntimeObserver(log);
  const connect = () => connectKube({ credentials, observeRequest: observer.request });
  using api = connect();
  // Connections of its own: heavy traffic must not cost the leadership.
  using leaseApi = connect();
  const members = new EtcdMembers();
  const scope = scopeOf(flags, identity);
  log.info("starts", { program, version, scope, server: credentials.server });
  const events = new EventRecorder({
    api,
    reporter: { controller: program, instance: identity.pod },
    observe: observer.event,
  });
  const image = new OwnImage(flags.workerImage);
  const parts: Parts = { api, scope, events, observer, workerImage: image.get };
  const leaseOf = (name: Program): Key => leaseFor(name, scope, identity.namespace);
  const jobs = jobsOf(program, flags).map((name) => jobOf(name, parts, members, flags, leaseOf(name)));
  const needed = new Set(jobs.slice(0, 1).map(({ needs }) => needs));
  const install = (wanted: readonly KindDescription[], ended: AbortSignal): Promise<void> =>
    installCrds(api, wanted.map(crdOf), ended, log);
  const alongside: Promise<unknown>[] = [];
  try {
    await runManager({
      api,
      leaseApi,
      informers: jobs.flatMap(({ informers }) => informers),
      controllers: jobs.map(({ controller }) => controller),
      identity: `${identity.pod}_${crypto.randomUUID()}`,
      listen: flags.listenAddr,
      async prepare(ended) {
        alongside.push(image.find(api, identity, program, log, ended));
        if (!flags.createCrd) return;
        // The others are installed too, and nothing that works without them waits for that.
        const others = kinds.filter((kind) => !needed.has(kind));
        alongside.push(install(others, ended).catch(() => undefined));
        await install([...needed], ended);
      },
      observer,
      events,
      signal,
    });
  } finally {
    members.close();
    await Promise.all(alongside);
  }
}

/** Which of the three jobs a program does; the first is what it is there for. */
function jobsOf(program: Program, { backup, restore }: Flags): readonly Program[] {
  if (program !== "etcd-operator") return [program];
  return programs.filter((name) => name === program || (name === "etcd-backup-operator" ? backup : restore));
}

function jobOf(name: Program, parts: Parts, members: EtcdMembers, flags: Flags, lease: Key): Job {
  if (name === "etcd-backup-operator") {
    const { controller, informers } = backupController(parts);
    return { needs: etcdBackup, controller: { controller, lease }, informers };
  }
  if (name === "etcd-restore-operator") {
    const { controller, informers } = restoreController(parts);
    return { needs: etcdRestore, controller: { controller, lease }, informers };
  }
  const { controller, informers, pods } = clusterController({ ...parts, members });
  const level = flags.chaosLevel;
  const { log } = parts.observer;
  const chaos: Pick<RunningController, "alongside"> =
    level === undefined
      ? {}
      : { alongside: (api, ended) => runChaos({ level, pods, clock: systemClock, log }, api, ended) };
  return { needs: etcdCluster, controller: { controller, lease, ...chaos }, informers };
}

// The longest name that Kubernetes takes for a Lease.
const longestName = 253;

/**
 * One leader for each job and scope: operators with different scopes run side by side in one namespace and each needs to
 * lead; and who manages backups may be another process than who manages clusters. The operator's own namespace,
 * which is the default, has the plain name. A namespace contains no dot, so that no two scopes have the same name.
 */
export function leaseFor(name: Program, scope: Scope, namespace: string): Key {
  if (scope.t === "clusterwide") return { namespace, name: `${name}-clusterwide` };
  const names = [...new Set(scope.names)].sort();
  if (names.length === 1 && names[0] === namespace) return { namespace, name };
  const listed = [name, ...names].join(".");
  if (listed.length <= longestName) return { namespace, name: listed };
  return { namespace, name: `${name}.${createHash("sha256").update(listed).digest("hex")}` };
}

function scopeOf({ clusterWide, namespaces }: Flags, identity: Identity): Scope {
  if (clusterWide) return { t: "clusterwide" };
  return { t: "namespaces", names: namespaces.length > 0 ? namespaces : [identity.namespace] };
}
