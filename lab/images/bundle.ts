// A program as one file that can be started by its name: without white space, with every library in it, led by the line
// that tells the kernel to run it with the image's Node.
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { Script } from "node:vm";
import { build } from "esbuild";
import { pageTexts } from "./page.ts";

export const tree: string = path.resolve(import.meta.dirname, "..", "..");

/** A smaller heap at little cost in speed. Node refuses this one in NODE_OPTIONS, so the first line carries it. */
export const nodeFlag = "--optimize-for-size";

/** The worker streams, which a smaller heap slows down; it ends soon, and frees what it has used (used-chunks.ts). */
export const workerFlag = "--max-semi-space-size=8";

export const bundleOperator = (): Promise<string> =>
  bundle("src/main.ts", path.join(tree, "dist", "etcd-operator.cjs"));

/** A program of its own: it holds the SDKs of the clouds, which the operator must not carry. */
export const bundleWorker = (): Promise<string> =>
  bundle("src/worker/program/main.ts", path.join(tree, "dist", "etcd-worker.cjs"), workerFlag);

/**
 * The kubectl plugin, which runs with whatever Node its user has. An old one must be able to read it, so that it can say
 * that it is too old.
 */
export async function bundlePlugin(outfile: string = path.join(tree, "dist", "kubectl-etcd")): Promise<string> {
  await bundleOf("src/plugin/main.ts", outfile, {
    firstLine: "#!/usr/bin/env node",
    target: "node18",
    define: { dashboardPage: JSON.stringify(await pageTexts()) },
  });
  await chmod(outfile, 0o755);
  // A file without an extension is what the next package.json says, and that of this tree says something else.
  await writeFile(path.join(path.dirname(outfile), "package.json"), '{ "type": "commonjs" }\n');
  return outfile;
}

interface Running {
  readonly firstLine: string;
  readonly target: string;
  /** What stands for a name of the program, as JSON. */
  readonly define?: Readonly<Record<string, string>>;
}

const inImage = (flag: string): Running => ({ firstLine: `#!/usr/local/bin/node ${flag}`, target: "node24" });

/** Bundles what `entry`, a file of this tree, starts. Gives back `outfile`. */
export async function bundle(entry: string, outfile: string, flag: string = nodeFlag): Promise<string> {
  await bundleOf(entry, outfile, inImage(flag));
  return outfile;
}

/** Gives back the files that are in it. */
export async function bundleOf(
  entry: string,
  outfile: string,
  { firstLine, target, define = {} }: Running = inImage(nodeFlag),
): Promise<readonly string[]> {
  // Renamed into place: suites in parallel make the same bundle, and one must not read what another has written half.
  const unfinished = `${outfile}.${process.pid}`;
  const { metafile } = await build({
    absWorkingDir: tree,
    entryPoints: [entry],
    outfile: unfinished,
    bundle: true,
    // Names stay, so that a stack in a log can be read. It costs 150 kB of bundle and 0.2 MB of heap; `keepNames` would
    // cost 20 kB and still turn private methods into letters.
    minifyWhitespace: true,
    minifySyntax: true,
    platform: "node",
    target,
    format: "cjs",
    define,
    banner: { js: firstLine },
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  const written = await readFile(unfinished, "utf8");
  if (!written.startsWith(`${firstLine}\n`)) throw new Error(`${unfinished} does not begin with ${firstLine}.`);
  // esbuild 0.28 leaves out parentheses that `??` needs where it puts the body of a function in place of its call.
  compile(written, outfile);
  await rename(unfinished, outfile);
  return Object.keys(metafile.inputs);
}

/** A program that does not compile ends the build here, and not the pod that would run it. */
export function compile(program: string, name: string): Script {
  try {
    return new Script(program, { filename: name });
  } catch (error) {
    throw new Error(`The bundle ${name} is not a program: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    });
  }
}
