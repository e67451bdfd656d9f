// The operator's entry. The image holds one bundle under the names of the three programs of etcd-operator 0.9, and runs
// the one that it is started as.
import * as path from "node:path";
import { identityOf } from "./environment.ts";
import { FlagError, parseFlags } from "./flags.ts";
import { CredentialsError } from "./kube/credentials/credentials.ts";
import { findCredentials } from "./kube/credentials/find-credentials.ts";
import { printable } from "./kube/objects/printable.ts";
import { logger } from "./kube/process/log.ts";
import { runProcess } from "./kube/process/run-process.ts";
import { runOperator } from "./operator.ts";
import { programs } from "./programs.ts";
import { version } from "./version.ts";

/** Reconciles have 10 s to finish and 5 s to abort; a pod's usual grace period is 30 s. */
const endWithin = 25_000;

async function main([, program = "", ...args]: readonly string[]): Promise<void> {
  const name = programs.find((known) => known === path.basename(program)) ?? programs[0];
  const flags = isVersion(args) ? undefined : parseFlags(args, name);
  if (flags === undefined || flags.version) {
    process.stdout.write(`${name} ${version}\n`);
    return;
  }
  const identity = identityOf(process.env);
  const credentials = await findCredentials();
  const log = logger();
  runProcess((signal) => runOperator({ program: name, flags, identity, credentials, log, signal }), { log, endWithin });
}

const isVersion = (args: readonly string[]): boolean => args.length === 1 && /^--?version$/.test(args[0] ?? "");

main(process.argv).catch((error: unknown) => {
  const expected = error instanceof FlagError || error instanceof CredentialsError;
  process.stderr.write(`${printable(expected ? error.message : String(error))}\n`);
  process.exitCode = error instanceof FlagError ? 2 : 1;
});
