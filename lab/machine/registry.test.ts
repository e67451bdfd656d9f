import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../config.ts";
import { lock } from "./registry.ts";

test("one process at a time locks a lab's name, and the error of another names it", async () => {
  const name = `unit${process.pid}`;
  const release = await lock(name, "being started");
  await assert.rejects(
    lock(name, "being taken down"),
    (error) => error instanceof UsageError && error.message.includes(`is being started by process ${process.pid}`),
  );
  await release();
  const again = await lock(name, "being taken down");
  await again();
});

test("two names are locked independently", async () => {
  const releases = await Promise.all([lock(`unita${process.pid}`, "busy"), lock(`unitb${process.pid}`, "busy")]);
  for (const release of releases) await release();
});
