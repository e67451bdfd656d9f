// A process that stands for election and, while it leads, writes a ConfigMap every 50 ms through the fence: the work
// of an operator at its plainest. It says on its standard output what becomes of its candidacy.
//
// With `unfenced` it is what an operator must not be: it writes on without checking that it still leads. It is there
// to show that the test would see it.
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeApi } from "../../src/kube/client/api.ts";
import { connectKube, type KubeClient } from "../../src/kube/client/client.ts";
import { fenced } from "../../src/kube/leader/fence.ts";
import { inClusterCredentials } from "../../src/kube/credentials/in-cluster.ts";
import { ConfigMap } from "../../src/kube/objects/kinds.ts";
import { lead } from "../../src/kube/leader/lease.ts";
import { logger } from "../../src/kube/process/log.ts";
import { runProcess } from "../../src/kube/process/run-process.ts";
import type { ElectorSettings, Said } from "./elector.ts";

const settings = JSON.parse(process.argv[2] ?? "") as ElectorSettings;
const { namespace, lease, identity, host, port, credentials: directory } = settings;

function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

function connect(): KubeClient {
  const env = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: String(port) };
  const credentials = inClusterCredentials(env, directory);
  if (credentials === undefined) throw new Error(`no credentials in ${directory}`);
  return connectKube({ credentials, userAgent: identity });
}

const api = connect();
const leaseApi = connect();

async function work(asLeader: KubeApi, goesOn: () => boolean): Promise<void> {
  for (let count = 1; goesOn(); count += 1) {
    const patch = { data: { by: identity, count: String(count) } };
    try {
      await asLeader.mergePatch(ConfigMap, { namespace, name: lease }, patch);
      if (count === 1) say({ t: "wrote", at: Date.now() });
    } catch (error) {
      say({ t: "failed", at: Date.now(), error: String(error) });
    }
    await sleep(50);
  }
}

runProcess(
  (signal) =>
    lead(
      {
        api: leaseApi,
        lease: { namespace, name: lease },
        identity,
        signal,
        onEvent: (news) => say({ t: news.t, at: Date.now() }),
      },
      (stop, fence) => (settings.unfenced ? work(api, () => true) : work(fenced(api, fence), () => !stop.aborted)),
    ),
  { log: logger({ level: "error" }), endWithin: 10_000 },
);
