// Chapter 2: the operator is installed or brought up to date, and what an earlier demo left is removed.
import { say, step } from "../../lab/progress.ts";
import { deployOperator } from "../deploy.ts";
import { listed } from "../leftovers.ts";
import { cluster, manifests } from "../names.ts";
import { begin, chapter, type Story } from "../story.ts";
import { shell, showLine, tell } from "../typed.ts";
import type { Ground } from "./kubernetes.ts";

export async function installOperator({ target, place, leftovers }: Ground, signal: AbortSignal): Promise<Story> {
  chapter("2. The operator");
  const began = Date.now();
  await deployOperator(target, signal);
  const done = [{ what: "installed the operator", tookMs: Date.now() - began }];
  if (leftovers.t === "ours") await removeLeftovers(leftovers.found, signal);
  return begin(place, done, signal);
}

async function removeLeftovers(found: readonly string[], signal: AbortSignal): Promise<void> {
  say();
  tell(`An earlier demo left ${listed(found)}. This one starts over:`);
  const files = [manifests.restore, manifests.cluster, manifests.backup];
  showLine(`kubectl delete --ignore-not-found ${files.map((file) => `-f ${file}`).join(" \\\n    ")}`);
  await step("delete what the earlier demo left", async () => {
    await shell(`kubectl delete --ignore-not-found ${files.map((file) => `-f ${file}`).join(" ")}`, { signal });
    await shell(`kubectl wait --for=delete pods -l etcd_cluster=${cluster} --timeout=120s`, { signal });
  });
}
