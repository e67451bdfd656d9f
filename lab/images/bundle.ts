// A program as one file that can be started by its name: minified, with every library in it, led by the line that
// tells the kernel to run it with the image's Node.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { build } from "esbuild";

export const tree: string = path.resolve(import.meta.dirname, "..", "..");

/** A smaller heap at little cost in speed. Node refuses this one in NODE_OPTIONS, so the first line carries it. */
export const nodeFlag = "--optimize-for-size";
const firstLine = `#!/usr/local/bin/node ${nodeFlag}`;

export const bundleOperator = (): Promise<string> =>
  bundle("src/main.ts", path.join(tree, "dist", "etcd-operator.cjs"));

/** Bundles what `entry`, a file of this tree, starts. Gives back `outfile`. */
export async function bundle(entry: string, outfile: string): Promise<string> {
  await build({
    absWorkingDir: tree,
    entryPoints: [entry],
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    banner: { js: firstLine },
    legalComments: "none",
    logLevel: "warning",
  });
  const written = await readFile(outfile, "utf8");
  if (!written.startsWith(`${firstLine}\n`)) throw new Error(`${outfile} does not begin with ${firstLine}.`);
  return outfile;
}
