// The end: what was done, what became of the writes, and what to type next.
import { bold, dim, say, seconds } from "../../lab/progress.ts";
import { cluster } from "../names.ts";
import { findPlugin, nextLines } from "../next.ts";
import type { Comparison } from "../read-back.ts";
import type { Story } from "../story.ts";
import { summaryLines } from "../summary.ts";
import type { Target } from "../target.ts";
import { type } from "../typed.ts";

export async function tellTheEnd(story: Story, target: Target, writes: Comparison, tookMs: number): Promise<void> {
  await type(`kubectl get etcd ${cluster}`, { signal: story.signal });
  say();
  say(bold(`The demo took ${seconds(tookMs)}:`));
  for (const line of summaryLines(story.done, { ...writes, unknown: story.writer.unknown })) say(`  ${line}`.trimEnd());
  say();
  say(bold("What to type next:"));
  for (const line of nextLines({ target, plugin: findPlugin(), restored: story.view.restore !== undefined }))
    say(`  ${line}`);
  say(dim("More: docs/clusters.md, docs/upgrades.md, docs/backups.md"));
}
