// `report`: all that a report of a fault needs, in one file or folder, without secrets.
import { mkdir, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { gzipSync } from "node:zlib";
import type { Command } from "../command.ts";
import { readTarget } from "../one-cluster.ts";
import { UsageError } from "../line/usage-error.ts";
import { Refusal } from "../place/refusal.ts";
import { gather } from "../report/gather.ts";
import { tarOf, type TextFile } from "../report/tar.ts";
import { readAll } from "../permissions.ts";
import { answer } from "../screen/structured.ts";
import { plural } from "../screen/words.ts";

const without = "Without it, that part is left out.";

export const reportCommand: Command = {
  name: "report",
  what: "Collect what a bug report needs, without secrets.",
  details:
    "Objects, events, metrics and the end of the logs of members and operator. Values of Secrets, ConfigMaps and environment\nvariables are removed; logs are unchanged, except that control characters are shown as �: read them before you\nshare them.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [
    {
      name: "file",
      value: "PATH",
      what: "The destination: an archive if it ends with .tar.gz, otherwise a folder. Default: an archive in the current folder.",
    },
    {
      name: "operator-namespace",
      value: "NAMESPACE",
      what: "The namespace of the operator. Default: the namespace of the cluster.",
    },
    { name: "lines", value: "COUNT", what: "How many lines of each log. Default: 2000." },
  ],
  examples: [
    { what: "An archive in this folder", line: "report my-etcd" },
    {
      what: "A folder, with the operator from its own namespace",
      line: "report my-etcd --file=report --operator-namespace=etcd-system",
    },
  ],
  permissions: [
    ...readAll,
    { group: "", resource: "pods/log", verbs: ["get"], without },
    { group: "", resource: "services", verbs: ["list"], without },
    { group: "", resource: "secrets", verbs: ["list"], without: "Without it, the names of Secrets are left out." },
    { group: "policy", resource: "poddisruptionbudgets", verbs: ["list"], without },
    { group: "apps", resource: "deployments", verbs: ["list"], without },
    { group: "coordination.k8s.io", resource: "leases", verbs: ["list"], without },
  ],
  async run(call) {
    const lines = Number(call.flags.text("lines") ?? "2000");
    if (!Number.isInteger(lines) || lines < 1) throw new UsageError("--lines is a number, as in --lines=500.");
    const target = await readTarget(call);
    const { name, namespace } = target.key;
    const files = await gather(call, target, call.flags.text("operator-namespace") ?? namespace, lines);
    const stamp = new Date(call.now()).toISOString().replaceAll(/[-:]|\..*/g, "");
    const title = `etcd-report-${name}-${stamp}`;
    const file = call.flags.text("file") ?? `${title}.tar.gz`;
    await write(file, title, files, new Date(call.now()));
    const said = `${file} has ${plural(files.length, "file")}. Values of Secrets and variables are removed; read the logs before you share it.`;
    return answer(call, said, { path: file, files: files.map((one) => one.path) });
  },
};

async function write(file: string, title: string, files: readonly TextFile[], now: Date): Promise<void> {
  try {
    if (/\.(tar\.gz|tgz)$/.test(file)) {
      // Only the owner may read it: logs are in it.
      await writeFile(
        file,
        gzipSync(
          tarOf(
            files.map((one) => ({ ...one, path: `${title}/${one.path}` })),
            now,
          ),
        ),
        { mode: 0o600, flag: "wx" },
      );
      return;
    }
    for (const { path: name, text } of files) {
      const at = path.join(file, name);
      await mkdir(path.dirname(at), { recursive: true });
      await writeFile(at, text, { mode: 0o600 });
    }
  } catch (error) {
    throw new Refusal(
      `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}. Choose another with --file.`,
    );
  }
}
