// What every operator pod has before it does anything: client, three caches, a controller with nothing to do, its
// lease, and the endpoints. Bundled and run with the image's flags, this is the runtime's own cost.
import { connectKube } from "../../src/kube/client/client.ts";
import { Controller } from "../../src/kube/controller/controller.ts";
import { findCredentials } from "../../src/kube/credentials/find-credentials.ts";
import { Informer } from "../../src/kube/cache/informer.ts";
import { ConfigMap, Pod, Service } from "../../src/kube/objects/kinds.ts";
import { logger } from "../../src/kube/process/log.ts";
import { runManager } from "../../src/kube/process/manager.ts";
import { done } from "../../src/kube/controller/run-reconcile.ts";
import { runProcess } from "../../src/kube/process/run-process.ts";
import { RuntimeObserver } from "../../src/kube/process/runtime-observer.ts";
import { from } from "../../src/kube/controller/source.ts";
import { podSettings } from "./settings.ts";

async function main(signal: AbortSignal): Promise<void> {
  const { namespace, lease, listen } = podSettings();
  const observer = new RuntimeObserver(log);
  const client = { credentials: await findCredentials(), userAgent: lease, observeRequest: observer.request };
  const api = connectKube(client);
  const leaseApi = connectKube(client);
  const selection = { namespace };
  const configMaps = new Informer({ api, kind: ConfigMap, selection, observe: observer.informer("ConfigMap") });
  const pods = new Informer({ api, kind: Pod, selection, observe: observer.informer("Pod") });
  const services = new Informer({ api, kind: Service, selection, observe: observer.informer("Service") });
  const controller = new Controller({
    name: "bench",
    sources: [from(configMaps), from(pods), from(services)],
    reconcile: () => Promise.resolve(done),
    workers: 4,
    observe: observer.controller("bench"),
  });
  const controllers = [{ controller, lease: { namespace, name: lease } }];
  const informers = [configMaps, pods, services];
  await runManager({ api, leaseApi, informers, controllers, identity: lease, listen, observer, signal });
}

const log = logger();
runProcess(main, { log, endWithin: 25_000 });
