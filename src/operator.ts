// The operator itself: what it connects to, what it makes sure of first, and what it runs.
import { createHash } from "node:crypto";
import { definitions } from "./api/crd/crd.ts";
import { installCrds } from "./api/crd/install.ts";
import type { Scope } from "./api/scope.ts";
import { runChaos } from "./cluster/chaos.ts";
import { clusterController } from "./cluster/controller.ts";
import type { Identity } from "./environment.ts";
import { EtcdMembers } from "./etcd/members.ts";
import type { Flags } from "./flags.ts";
import { connectKube } from "./kube/client/client.ts";
import { systemClock } from "./kube/clock.ts";
import type { Credentials } from "./kube/credentials/credentials.ts";
import { EventRecorder } from "./kube/objects/events.ts";
import type { Key } from "./kube/objects/objects.ts";
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
  const { controller, informers, pods } = clusterController({ api, scope, members, events, observer });
  const level = flags.chaosLevel;
  const alongside: Pick<RunningController, "alongside"> =
    level === undefined
      ? {}
      : { alongside: (api, ended) => runChaos({ level, pods, clock: systemClock, log }, api, ended) };
  try {
    await runManager({
      api,
      leaseApi,
      informers,
      controllers: [{ controller, lease: leaseFor(scope, identity.namespace), ...alongside }],
      identity: `${identity.pod}_${crypto.randomUUID()}`,
      listen: flags.listenAddr,
      prepare: (ended) => (flags.createCrd ? installCrds(api, definitions, ended, log) : Promise.resolve()),
      observer,
      events,
      signal,
    });
  } finally {
    members.close();
  }
}

// The longest name that Kubernetes takes for a Lease.
const longestName = 253;

/**
 * One leader for each scope: operators with different scopes run side by side in one namespace and each needs to lead.
 * The operator's own namespace, which is the default, has the plain name. A namespace contains no dot, so that no two
 * scopes have the same name.
 */
export function leaseFor(scope: Scope, namespace: string): Key {
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
