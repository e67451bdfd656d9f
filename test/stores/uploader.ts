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

const order = JSON.parse(process.argv[2] ?? "") as Order;
const store = await openStore(order.target);

let peak = 0;
const look = (): void => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
const timer = setInterval(look, 50);

async function* body(): AsyncGenerator<Uint8Array> {
  yield* made({ bytes: order.bytes });
  if (order.end === "whole") return;
  process.stdout.write(`${JSON.stringify({ produced: order.bytes })}\n`);
  await pause(600_000);
}

await store.put(order.key, body());
look();
clearInterval(timer);
store.close();
// What the kernel has seen, which no sampling misses; in kilobytes.
const { maxRSS } = process.resourceUsage();
process.stdout.write(`${JSON.stringify({ bytes: order.bytes, peak: Math.max(peak, maxRSS * 1024) })}\n`);
