// `make plugin`: leaves the kubectl plugin in dist/, for people with Node, for people without, and for krew.
import * as path from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "../config.ts";
import { tree } from "../images/bundle.ts";
import { red, say } from "../progress.ts";
import { buildPlugin } from "./build.ts";
import { isOwn } from "./node-package.ts";

const help = `make plugin [PLUGIN_OPTIONS='…']

  --uri URI       where a release's archives are fetched from, for krew: a URI with {file} and, if wanted, {version}
  --homepage URL  for krew`;

/** Nobody publishes there: a manifest for trying, by \`kubectl krew install --manifest … --archive …\`. */
const noPlace = "https://example.org/{version}/{file}";

async function main(words: readonly string[]): Promise<number> {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: { uri: { type: "string" }, homepage: { type: "string" }, help: { type: "boolean" } },
    });
    if (values.help) {
      say(help);
      return 0;
    }
    const { uri = noPlace, homepage } = values;
    const built = await buildPlugin(path.join(tree, "dist"), { uri, ...(homepage === undefined ? {} : { homepage }) });
    const own = built.executables.find(({ architecture }) => isOwn(architecture))?.file ?? built.file;
    say(
      `${nearby(own)} runs by itself, ${nearby(built.file)} with Node. Put one into a folder of your PATH as kubectl-etcd:`,
    );
    say(`  sudo install ${nearby(own)} /usr/local/bin/kubectl-etcd`);
    say(`${nearby(path.dirname(built.manifest))} has the archives and the manifest for krew.`);
    if (values.uri === undefined) say("The manifest names no real place to fetch from: a release gives --uri.");
    return 0;
  } catch (error) {
    const usage = error instanceof UsageError || isArgumentError(error);
    say(red(error instanceof Error ? error.message : String(error)));
    if (usage) say(help);
    return usage ? 2 : 1;
  }
}

const isArgumentError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

const nearby = (file: string): string => path.relative(process.cwd(), file);

process.exitCode = await main(process.argv.slice(2));
