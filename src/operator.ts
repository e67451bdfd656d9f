// The operator itself: what it connects to, what it makes sure of first, and what it runs.
import { installCrds } from "./api/crd/install.ts";
import type { Scope } from "./cluster/caches.ts";
import { practise } from "./cluster/chaos.ts";
import { clusterController } from "./cluster/controller.ts";
import type { Identity } from "./environment.ts";
import { EtcdMembers } from "./etcd/members.ts";
import type { Flags } from "./flags.ts";
import type { KubeApi } from "./kube/client/api.ts";
import { connectKube } from "./kube/client/client.ts";
import { systemClock } from "./kube/clock.ts";
import type { Credentials } from "./kube/credentials/credentials.ts";
import { isForbidden } from "./kube/client/errors.ts";
import { EventRecorder } from "./kube/objects/events.ts";
import { Node } from "./kube/objects/kinds.ts";
import type { Logger } from "./kube/process/log.ts";
import { type RunningController, runManager } from "./kube/process/manager.ts";
import { RuntimeObserver } from "./kube/process/runtime-observer.ts";
import { version } from "./version.ts";

const name = "etcd-operator";

export interface OperatorOptions {
  readonly flags: Flags;
  readonly identity: Identity;
  readonly credentials: Credentials;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export async function runOperator({ flags, identity, credentials, log, signal }: OperatorOptions): Promise<void> {
  const observer = new RuntimeObserver(log);
  const connect = () => connectKube({ credentials, observeRequest: observer.request });
  using api = connect();
  // Connections of its own: heavy traffic must not cost the leadership.
  using leaseApi = connect();
  const members = new EtcdMembers();
  const scope = scopeOf(flags, identity);
  log.info("starts", { version, scope, server: credentials.server });
  const events = new EventRecorder({
    api,
    reporter: { controller: name, instance: identity.pod },
    observe: observer.event,
  });
  const nodes = (await maySeeNodes(api, signal)) ? "watched" : "unseen";
  if (nodes === "unseen")
    log.warn("Nodes may not be listed, so members on lost nodes are not replaced: grant list and watch on nodes.");
  const { controller, informers, pods } = clusterController({ api, scope, nodes, members, events, observer });
  const level = flags.chaosLevel;
  const alongside: Pick<RunningController, "alongside"> =
    level === undefined
      ? {}
      : { alongside: (api, ended) => practise({ level, pods, clock: systemClock, log }, api, ended) };
  try {
    await runManager({
      api,
      leaseApi,
      informers,
      controllers: [{ controller, lease: { namespace: identity.namespace, name }, ...alongside }],
      identity: `${identity.pod}_${crypto.randomUUID()}`,
      listen: flags.listenAddr,
      prepare: (ended) => (flags.createCrd ? installCrds(api, ended, log) : Promise.resolve()),
      observer,
      events,
      signal,
    });
  } finally {
    members.close();
  }
}

function scopeOf({ clusterWide, namespaces }: Flags, identity: Identity): Scope {
  if (clusterWide) return { t: "clusterwide" };
  return { t: "namespaces", names: namespaces.length > 0 ? namespaces : [identity.namespace] };
}

async function maySeeNodes(api: KubeApi, signal: AbortSignal): Promise<boolean> {
  try {
    await api.list(Node, { limit: 1, signal });
    return true;
  } catch (error) {
    if (isForbidden(error)) return false;
    throw error;
  }
}
