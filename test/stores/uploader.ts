// A process of its own that uploads made data to a store, for what only a process can show: that it is killed midway, and
// how much memory it takes. `node uploader.ts '{"target":…,"key":…,"bytes":…,"end":"whole"|"hang"}'`; prints a line of JSON
// when all was sent, or, before it hangs, when the store had time to take what was produced.
import { setTimeout as pause } from "node:timers/promises";
import { openStore } from "../../src/store/open.ts";
import "./loopback-names.ts";
import type { StoreTarget } from "../../src/store/store.ts";
import { made } from "../../src/store/testing/made-body.ts";

interface Order {
  readonly target: StoreTarget;
  readonly key: string;
  readonly bytes: number;
  readonly end: "whole" | "hang";
}

async function* produced({ bytes, end }: Order): AsyncGenerator<Uint8Array> {
  yield* made({ bytes });
  if (end === "whole") return;
  process.stdout.write(`${JSON.stringify({ produced: bytes })}\n`);
  await pause(600_000);
}

async function main(): Promise<void> {
  const order = JSON.parse(process.argv[2] ?? "") as Order;
  const store = await openStore(order.target);
  await store.put(order.key, produced(order));
  store.close();
  // What the kernel has seen at most, in kilobytes.
  const peak = process.resourceUsage().maxRSS * 1024;
  process.stdout.write(`${JSON.stringify({ bytes: order.bytes, peak })}\n`);
}

void main();
