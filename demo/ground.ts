// Which Kubernetes demo and deployment stand on: the lab, started if it is not up, or with LAB=none the one that
// KUBECONFIG names. From then on kubectl, run from here, speaks to it.
import * as path from "node:path";
import { parseArgs } from "node:util";
import { tryRun } from "../lab/command.ts";
import { kubeconfigPath, type LabConfig, labConfig, UsageError } from "../lab/config.ts";
import { readRecord } from "../lab/registry.ts";
import { isUp, up } from "../lab/up.ts";

export type Ground = { readonly t: "lab"; readonly lab: LabConfig } | { readonly t: "given" };

export async function findGround(args: readonly string[], signal: AbortSignal): Promise<Ground> {
  if (process.env["LAB"] === "none") return given();
  const lab = await running(args, signal);
  process.env["KUBECONFIG"] = kubeconfigPath(lab);
  process.env["PATH"] = [lab.bin, process.env["PATH"] ?? ""].join(path.delimiter);
  return { t: "lab", lab };
}

/** What a person types first to use that Kubernetes; empty when it is theirs already. */
export function howToUse(ground: Ground): string {
  if (ground.t === "given") return "";
  const near = (file: string): string => `$PWD/${path.relative(process.cwd(), file)}`;
  return `export KUBECONFIG=${near(kubeconfigPath(ground.lab))} PATH=${near(ground.lab.bin)}:$PATH`;
}

async function given(): Promise<Ground> {
  if (process.env["KUBECONFIG"] === undefined)
    throw new UsageError("LAB=none, and KUBECONFIG does not say which Kubernetes to use: set it.");
  const answer = await tryRun("kubectl", ["version", "--output=json", "--request-timeout=10s"]).catch(
    (cause: unknown) => {
      throw new UsageError("kubectl cannot be run: install it, or put it on the PATH.", { cause });
    },
  );
  if (answer === undefined)
    throw new UsageError(`The Kubernetes of KUBECONFIG=${process.env["KUBECONFIG"]} does not answer kubectl.`);
  return { t: "given" };
}

/** The options are those of `lab/main.ts up`; a lab that is up is taken as it is, however many nodes it has. */
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
