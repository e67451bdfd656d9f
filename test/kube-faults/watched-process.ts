// A process with informers of all numbered kinds, over each way that it is given, as in a pod. It reports every change
// that they tell and every turn that they take, and keeps nothing of it.
import { readdirSync } from "node:fs";
import { connectKube } from "../../src/kube/client/client.ts";
import { inClusterCredentials } from "../../src/kube/credentials/in-cluster.ts";
import { Informer } from "../../src/kube/cache/informer.ts";
import type { Observation } from "./checker.ts";
import { type Numbered, type NumberedKind, numberedKinds, numberedSelector } from "./numbered.ts";
import { type Answer, type Footprint, informerName, type Question, type WatchedSettings, type Way } from "./watched.ts";

const settings = JSON.parse(process.argv[2] ?? "") as WatchedSettings;
const informers = new Map<string, Informer<Numbered>>();
let connections = 0;
let unsent: { informer: string; what: Observation }[] = [];

function send(answer: Answer): void {
  process.send?.(answer);
}

function flush(): void {
  if (unsent.length === 0) return;
  send({ t: "observed", observations: unsent });
  unsent = [];
}

function report(informer: string, what: Observation): void {
  if (unsent.length === 0) setTimeout(flush, 10);
  unsent.push({ informer, what });
}

function watch(way: Way, kind: NumberedKind, api: ReturnType<typeof connectKube>): void {
  const name = informerName(way.name, kind.kind.kind);
  const informer = new Informer({
    api,
    kind: kind.kind,
    selection: { namespace: settings.namespace, labelSelector: numberedSelector },
    observe(event) {
      if (event.type === "listed") report(name, { t: "listed" });
      else if (event.type === "watching") report(name, { t: "watching", version: event.resourceVersion });
      else if (event.type === "watchEnded") report(name, { t: "watchEnded", because: event.because });
      else if (event.type === "threw") throw event.error;
    },
  });
  informer.subscribe(({ type, object }) => {
    const { name: object_, uid = "", resourceVersion: version = "" } = object.metadata ?? {};
    report(name, { t: "change", type, name: object_ ?? "", uid, version, sequence: kind.sequenceOf(object) });
  });
  informers.set(name, informer);
  void informer.run(new AbortController().signal);
}

for (const way of settings.ways) {
  const env = { KUBERNETES_SERVICE_HOST: way.host, KUBERNETES_SERVICE_PORT: String(way.port) };
  const credentials = inClusterCredentials(env, way.credentials);
  if (credentials === undefined) throw new Error(`no credentials in ${way.credentials}`);
  const api = connectKube({
    credentials,
    userAgent: `informers ${way.name}`,
    observeTransport(event) {
      if (event.type === "connected") connections += 1;
      if (event.type === "closed") connections -= 1;
    },
  });
  for (const kind of numberedKinds) watch(way, kind, api);
}

function footprint(): Footprint {
  if (globalThis.gc === undefined) throw new Error("started without --expose-gc");
  globalThis.gc();
  globalThis.gc();
  const { rss, heapUsed: heap } = process.memoryUsage();
  const fileDescriptors = readdirSync("/proc/self/fd").length;
  return { rss, heap, fileDescriptors, activeResources: process.getActiveResourcesInfo().length, connections };
}

process.on("message", ({ ask, id }: Question) => {
  flush();
  if (ask === "footprint") send({ t: "footprint", id, footprint: footprint() });
  else {
    const caches = [...informers].map(([name, informer]) => [name, [...informer.store.values()]] as const);
    send({ t: "caches", id, caches: Object.fromEntries(caches) });
  }
});
// The test is gone: so is the reason to live.
process.on("disconnect", () => process.exit(0));
