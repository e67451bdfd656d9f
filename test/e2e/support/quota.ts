// A ResourceQuota that is in force.
import { waitFor } from "../../../lab/progress.ts";
import { kubectl } from "../../support/kubectl.ts";
import { patience } from "./environment.ts";

/** Creates it and waits until it is enforced: before a controller has counted what is used, everything is let through. */
export async function untilQuota(namespace: string, name: string, hard: string): Promise<void> {
  const inNamespace = `--namespace=${namespace}`;
  await kubectl("create", "quota", name, `--hard=${hard}`, inNamespace);
  const used = (): Promise<string> => kubectl("get", "quota", name, inNamespace, "--output=jsonpath={.status.used}");
  await waitFor("the quota to be enforced", async () => (await used()) || undefined, { timeoutMs: patience });
}
