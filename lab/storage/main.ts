// The storage process of a lab: creates, grows and deletes volumes for claims. It is a controller on our own runtime, with
// one key for everything, because a lab has few volumes.
import { inspect, parseArgs } from "node:util";
import { connectKube } from "../../src/kube/client/client.ts";
import { Controller } from "../../src/kube/controller/controller.ts";
import { Informer } from "../../src/kube/cache/informer.ts";
import { PersistentVolume, PersistentVolumeClaim } from "../../src/kube/objects/kinds.ts";
import { kubeconfigCredentials } from "../../src/kube/credentials/kubeconfig.ts";
import { done } from "../../src/kube/controller/run-reconcile.ts";
import { from } from "../../src/kube/controller/source.ts";
import { kubeconfigPath, labConfig } from "../config.ts";
import { say } from "../progress.ts";
import { actOnStorage } from "./act.ts";
import { planStorage } from "./plan.ts";

const { values } = parseArgs({ options: { name: { type: "string", default: "lab" }, subnet: { type: "string" } } });
const lab = labConfig({ name: values.name, ...(values.subnet === undefined ? {} : { subnet: values.subnet }) });
const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop.abort());

const api = connectKube({ credentials: kubeconfigCredentials(kubeconfigPath(lab)), userAgent: "lab-storage" });
const report = (event: { type: string; error?: unknown }): void => {
  if (event.error !== undefined) say(`${event.type}: ${inspect(event.error)}`);
};
const claims = new Informer({ api, kind: PersistentVolumeClaim, observe: report });
const volumes = new Informer({ api, kind: PersistentVolume, observe: report });
const everything = { toKeys: () => ["storage"] };

const controller = new Controller({
  name: "storage",
  sources: [from(claims, everything), from(volumes, everything)],
  backoff: { firstMs: 100, maxMs: 5_000, jitter: 0.1 },
  async reconcile(_key, context) {
    for (const action of planStorage([...claims.store.values()], [...volumes.store.values()])) {
      say(JSON.stringify(action));
      await actOnStorage(lab, context.api, action);
    }
    return done;
  },
  observe(event) {
    if (event.type === "reconcileEnded" && event.next.next === "failed") say(`failed: ${inspect(event.next.error)}`);
  },
});

await Promise.all([claims.run(stop.signal), volumes.run(stop.signal), controller.run(api, stop.signal)]);
api[Symbol.dispose]();
