// The kubectl plugin as one executable, for people without Node: the pinned Node, with the plugin's file inside of it.
import { chmod, copyFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { tree } from "../images/bundle.ts";
import { pinnedNode } from "../images/node.ts";
import { run } from "../machine/command.ts";

/** Where Node looks for a program inside of itself, and the mark in it that says whether it should. */
const section = "NODE_SEA_BLOB";
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const settings = {
  // A relative path: it is kept in the executable.
  main: "kubectl-etcd",
  output: "blob",
  disableExperimentalSEAWarning: true,
  // A cache of compiled code saves no time that can be measured, differs from build to build, and fits one architecture.
  useCodeCache: false,
  // NODE_OPTIONS are for the user's own programs.
  execArgvExtension: "none",
} as const;

/** Writes `outfile`: the Node program `node`, of any architecture, which runs the file `plugin`. */
export async function buildExecutable(plugin: string, node: string, outfile: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "kubectl-etcd-"));
  const unfinished = `${outfile}.${process.pid}`;
  try {
    await copyFile(plugin, path.join(folder, settings.main));
    await writeFile(path.join(folder, "settings.json"), JSON.stringify(settings));
    await run(pinnedNode.program, ["--experimental-sea-config", "settings.json"], { cwd: folder });
    await copyFile(node, unfinished);
    // In a process of its own: it works for seconds without a pause, and prints what concerns nobody.
    const postject = path.join(tree, "node_modules/postject/dist/cli.js");
    const blob = path.join(folder, settings.output);
    await run(pinnedNode.program, [postject, unfinished, section, blob, "--sentinel-fuse", fuse]);
    await chmod(unfinished, 0o755);
    await rename(unfinished, outfile);
  } finally {
    await rm(unfinished, { force: true });
    await rm(folder, { recursive: true });
  }
}
