// The operator's entry. One bundle stands in the image under several names, and the name it is started by says which
// of the old operators' programs it stands for.
import * as path from "node:path";
import { version } from "./version.ts";

const names = ["etcd-operator", "etcd-backup-operator", "etcd-restore-operator"] as const;

function main(argv: readonly string[]): number {
  const started = path.basename(argv[1] ?? "");
  const name = names.find((known) => known === started) ?? names[0];
  if (argv.length === 3 && argv[2] === "--version") {
    process.stdout.write(`${name} ${version}\n`);
    return 0;
  }
  process.stderr.write(`${name} ${version} answers only --version so far.\n`);
  return 2;
}

process.exitCode = main(process.argv);
