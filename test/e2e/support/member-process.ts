// The arguments and environment variables of a member's process, as the kernel has them.
import { readFile } from "node:fs/promises";
import { containerOf, findPod } from "../../../lab/nodes/pods.ts";
import type { TestCluster } from "./cluster.ts";
import { lab } from "./environment.ts";

export interface MemberProcess {
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  /** User id. */
  readonly user: number;
}

export async function processOf({ namespace }: TestCluster, name: string): Promise<MemberProcess> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, "utf8");
  const [args, variables, status] = await Promise.all([read("cmdline"), read("environ"), read("status")]);
  return {
    args: parts(args),
    env: new Map(parts(variables).map(nameAndValue)),
    user: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
  };
}

const parts = (text: string): string[] => text.split("\0").filter((part) => part !== "");

function nameAndValue(variable: string): readonly [string, string] {
  const end = variable.indexOf("=");
  return [variable.slice(0, end), variable.slice(end + 1)];
}
