// A complete controller: every Greeting gets a ConfigMap with its text, and its status says so.
import { hostname } from "node:os";
import type { KubeApi } from "../../src/kube/client/api.ts";
import { connectKube } from "../../src/kube/client/client.ts";
import { type Condition, withConditions } from "../../src/kube/objects/conditions.ts";
import { Controller } from "../../src/kube/controller/controller.ts";
import { EventRecorder } from "../../src/kube/objects/events.ts";
import { findCredentials } from "../../src/kube/credentials/find-credentials.ts";
import { Informer } from "../../src/kube/cache/informer.ts";
import { ConfigMap } from "../../src/kube/objects/kinds.ts";
import { type Logger, logger } from "../../src/kube/process/log.ts";
import { runManager } from "../../src/kube/process/manager.ts";
import { done, type Reconcile } from "../../src/kube/controller/run-reconcile.ts";
import type { Kind, KubeObject } from "../../src/kube/objects/objects.ts";
import { isControlledBy, ownerReference } from "../../src/kube/objects/owners.ts";
import { runProcess } from "../../src/kube/process/run-process.ts";
import { RuntimeObserver } from "../../src/kube/process/runtime-observer.ts";
import { from, userEditsFirst, toController } from "../../src/kube/controller/source.ts";

export interface Greeting extends KubeObject {
  spec: { text: string };
  status?: { conditions?: readonly Condition[] };
}
export const Greeting: Kind<Greeting> = {
  group: "example.com",
  version: "v1",
  kind: "Greeting",
  plural: "greetings",
  namespaced: true,
};

export async function runGreetings(api: KubeApi, signal: AbortSignal, log: Logger, listen = ":8080"): Promise<void> {
  const name = "greetings";
  const identity = `${hostname()}_${crypto.randomUUID()}`;
  const observer = new RuntimeObserver(log);
  const reporter = { controller: name, instance: hostname() };
  const events = new EventRecorder({ api, reporter, observe: observer.event });
  const greetings = new Informer({ api, kind: Greeting, observe: observer.informer("Greeting") });
  const configMaps = new Informer({ api, kind: ConfigMap, observe: observer.informer("ConfigMap") });

  const reconcile: Reconcile = async (key, context) => {
    const greeting = greetings.store.get(key);
    if (greeting === undefined) return done; // deleted: its ConfigMap goes with it, by the owner reference
    const { text } = greeting.spec;
    const present = configMaps.store.get(key);
    const taken = present !== undefined && !isControlledBy(present, greeting);
    if (!taken && present?.data?.["text"] !== text) {
      const metadata = { ...key, ownerReferences: [ownerReference(Greeting, greeting)] };
      await context.api.apply(ConfigMap, { metadata, data: { text } }, { fieldManager: name, force: true });
      events.record(Greeting, greeting, { type: "Normal", reason: "Written", action: "Apply", note: text });
    }
    const ready = taken
      ? { status: "False" as const, reason: "NameTaken", message: "Another owner has a ConfigMap of this name." }
      : { status: "True" as const, reason: "Written", message: "The ConfigMap holds the text." };
    const before = greeting.status?.conditions;
    const observedGeneration = greeting.metadata?.generation ?? 0;
    const conditions = withConditions(before, [{ type: "Ready", ...ready, observedGeneration }], new Date());
    if (conditions === before) return done;
    await context.api.mergePatch(Greeting, key, { status: { conditions } }, { subresource: "status" });
    return done;
  };

  const edits = from(greetings, { priority: userEditsFirst });
  const sources = [edits, from(configMaps, { toKeys: toController(Greeting) })];
  const controller = new Controller({ name, sources, reconcile, workers: 4, observe: observer.controller(name) });
  const controllers = [{ controller, lease: { namespace: "default", name } }];
  const informers = [greetings, configMaps];
  await runManager({ api, informers, controllers, identity, listen, observer, events, signal });
}

if (import.meta.main) {
  const log = logger();
  const main = async (signal: AbortSignal): Promise<void> =>
    runGreetings(connectKube({ credentials: await findCredentials() }), signal, log);
  runProcess(main, { log, endWithin: 25_000 });
}
