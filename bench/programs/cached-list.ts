// Fills one cache, says how long it took, and stays, so that what it costs to hold can be measured.
import { connectKube } from "../../src/kube/client/client.ts";
import { findCredentials } from "../../src/kube/credentials/find-credentials.ts";
import { Informer } from "../../src/kube/cache/informer.ts";
import { ConfigMap } from "../../src/kube/objects/kinds.ts";
import { podSettings } from "./settings.ts";

async function main(): Promise<void> {
  const { namespace, lease } = podSettings();
  const api = connectKube({ credentials: await findCredentials(), userAgent: lease });
  const { signal } = new AbortController();
  const informer = new Informer({ api, kind: ConfigMap, selection: { namespace }, observe: () => undefined });
  const began = performance.now();
  void informer.run(signal);
  await informer.whenSynced(signal);
  const tookMs = performance.now() - began;
  process.stdout.write(`${JSON.stringify({ objects: informer.store.size, tookMs })}\n`);
}

void main();
