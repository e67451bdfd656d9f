// The floor of `cached-list.ts`: the same pages over bare node:http2, parsed and forgotten.
import { Bare, type BareAccess } from "../bare.ts";
import { podSettings } from "./settings.ts";

async function main(): Promise<void> {
  const { namespace } = podSettings();
  const bare = new Bare(JSON.parse(process.env["BENCH_ACCESS"] ?? "") as BareAccess);
  const began = performance.now();
  const { items } = await bare.walk(`/api/v1/namespaces/${namespace}/configmaps`, 100);
  const tookMs = performance.now() - began;
  process.stdout.write(`${JSON.stringify({ objects: items, tookMs })}\n`);
}

void main();
