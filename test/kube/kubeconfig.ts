// The kubeconfig that these tests use: the one that is named, else that of the lab in this tree.
import { existsSync } from "node:fs";
import * as path from "node:path";

export function kubeconfig(): { kubeconfig?: string } {
  const lab = path.resolve(import.meta.dirname, "../../.lab/kubeconfig");
  const named = process.env["KUBECONFIG"] ?? (existsSync(lab) ? lab : undefined);
  return named === undefined ? {} : { kubeconfig: named };
}
