// `make demo`: the life of an etcd cluster in two minutes, from nothing to a restore. It shows every command as a person would
// type it, and leaves the cluster for them to go on with.
import { backUp } from "./chapters/backup.ts";
import { createCluster } from "./chapters/create.ts";
import { destroy } from "./chapters/destroy.ts";
import { tellTheEnd } from "./chapters/ending.ts";
import { healUnderWrites } from "./chapters/heal.ts";
import { findKubernetes } from "./chapters/kubernetes.ts";
import { installOperator } from "./chapters/operator.ts";
import { readEverythingBack } from "./chapters/read-back.ts";
import { restore } from "./chapters/restore.ts";
import { upgrade } from "./chapters/upgrade.ts";
import { command } from "./command.ts";
import type { Comparison } from "./read-back.ts";
import type { Story } from "./story.ts";

async function demo(args: readonly string[], interrupted: AbortSignal): Promise<void> {
  const began = Date.now();
  const ended = new AbortController();
  const signal = AbortSignal.any([interrupted, ended.signal]);
  try {
    const ground = await findKubernetes(args, signal);
    const story = await installOperator(ground, signal);
    try {
      await createCluster(story);
      await healUnderWrites(story);
      await upgrade(story);
      const writes = await loseAndRestore(story);
      await tellTheEnd(story, ground.target, writes, Date.now() - began);
    } finally {
      await story.writer.stop();
    }
  } finally {
    ended.abort(new Error("The demo has ended"));
  }
}

async function loseAndRestore(story: Story): Promise<Comparison> {
  const revision = await backUp(story);
  if (revision === undefined) return readEverythingBack(story);
  await destroy(story);
  return restore(story, revision);
}

await command(demo);
