// The Kubernetes that demo and deployment use: the lab, started if it is not up, or with LAB=none the one of KUBECONFIG.
// Sets KUBECONFIG and PATH, so that kubectl uses it too.
import * as path from "node:path";
import { parseArgs } from "node:util";
import { tryRun } from "../lab/machine/command.ts";
import { kubeconfigPath, type LabConfig, labConfig, UsageError } from "../lab/config.ts";
import { readRecord } from "../lab/machine/registry.ts";
import { isUp, up } from "../lab/up.ts";

export type Target = { readonly t: "lab"; readonly lab: LabConfig } | { readonly t: "given" };

export async function findTarget(args: readonly string[], signal: AbortSignal): Promise<Target> {
  if (process.env["LAB"] === "none") return given();
  const lab = await running(args, signal);
  process.env["KUBECONFIG"] = kubeconfigPath(lab);
  process.env["PATH"] = [lab.bin, process.env["PATH"] ?? ""].join(path.delimiter);
  return { t: "lab", lab };
}

/** The line to type first to use that Kubernetes; empty when kubectl uses it already. */
export function howToUse(target: Target): string {
  if (target.t === "given") return "";
  const near = (file: string): string => `$PWD/${path.relative(process.cwd(), file)}`;
  return `export KUBECONFIG=${near(kubeconfigPath(target.lab))} PATH=${near(target.lab.bin)}:$PATH`;
}

async function given(): Promise<Target> {
  if (process.env["KUBECONFIG"] === undefined)
    throw new UsageError("With LAB=none, set KUBECONFIG to the Kubernetes to use.");
  const answer = await tryRun("kubectl", ["version", "--output=json", "--request-timeout=10s"]).catch(
    (cause: unknown) => {
      throw new UsageError("kubectl is missing: install it, or put it on the PATH.", { cause });
    },
  );
  if (answer === undefined)
    throw new UsageError(`The Kubernetes of KUBECONFIG=${process.env["KUBECONFIG"]} does not answer kubectl.`);
  return { t: "given" };
}

/** Takes the options of `lab/main.ts up`; uses a lab that is up as it is, however many nodes it has. */
async function running(args: readonly string[], signal: AbortSignal): Promise<LabConfig> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      name: { type: "string" },
      subnet: { type: "string" },
      nodes: { type: "string" },
      kubernetes: { type: "string" },
    },
  });
  const { nodes, ...named } = values;
  const wanted = labConfig({ ...named, ...(nodes === undefined ? {} : { nodes: Number(nodes) }) });
  const record = readRecord(wanted.name);
  if (record !== undefined && (await isUp(wanted))) return record;
  await up(wanted, { signal });
  return wanted;
}
