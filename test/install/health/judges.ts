// Verdicts on objects by the own code of kstatus, Flux and Argo CD, with the files that users give to Flux and Argo CD.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureJudges } from "../../../lab/build/judges.ts";
import { run } from "../../../lab/machine/command.ts";
import { root } from "../../suites.ts";

interface Health {
  readonly status: string;
  readonly message: string;
}

interface Verdict {
  /** Of Flux without expressions, and of Helm 4. */
  readonly kstatus: Health;
  /** Of Flux with install/flux. */
  readonly flux: Health;
  /** Of Argo CD with install/argocd. */
  readonly argo: Health;
}

export const kinds = ["EtcdCluster", "EtcdBackup", "EtcdRestore"] as const;
export type Kind = (typeof kinds)[number];

export const scriptOf = (kind: Kind): Promise<string> =>
  readFile(path.join(root, `install/argocd/${kind}/health.lua`), "utf8");

/** A verdict an object, in their order. */
export async function judge(objects: readonly object[]): Promise<readonly Verdict[]> {
  const program = await ensureJudges();
  const flux = await readFile(path.join(root, "install/flux/health-checks.yaml"), "utf8");
  const scripts = Object.fromEntries(await Promise.all(kinds.map(async (kind) => [kind, await scriptOf(kind)])));
  return JSON.parse(await run(program, [], { input: JSON.stringify({ flux, scripts, objects }) })) as Verdict[];
}
