// The source of a release: a copy of the tree, with the version of the release in package.json, so that programs, labels and
// the chart all have it, and nothing of the tree changes.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { UsageError } from "../lab/config.ts";
import { tryRun } from "../lab/machine/command.ts";
import type { Wanted } from "./options.ts";

export interface Revision {
  readonly revision: string;
  readonly time: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The commit that is released. */
export async function revisionOf(
  tree: string,
  { uncommitted }: Pick<Wanted, "uncommitted">,
  env: Environment = process.env,
): Promise<Revision> {
  const git = (...args: string[]): Promise<string | undefined> => tryRun("git", args, { cwd: tree });
  const root = (await git("rev-parse", "--show-toplevel"))?.trim();
  const commit = root === tree ? (await git("log", "-1", "--format=%H %ct"))?.trim() : undefined;
  if (commit === undefined) return fromEnvironment(env);
  const changed = (await git("status", "--porcelain"))?.trim() ?? "";
  if (changed !== "" && !uncommitted)
    throw new UsageError(`A release is made from a commit, and these files are not committed:\n${changed}`);
  const [revision = "", seconds = ""] = commit.split(" ");
  return {
    revision: changed === "" ? revision : `${revision}-modified`,
    time: Number(env["SOURCE_DATE_EPOCH"] ?? seconds),
  };
}

function fromEnvironment(env: Environment): Revision {
  const { REVISION: revision, SOURCE_DATE_EPOCH: seconds } = env;
  if (revision !== undefined && /^\d+$/.test(seconds ?? "")) return { revision, time: Number(seconds) };
  throw new UsageError(
    "The tree is no git repository: set REVISION to the commit that is released, and SOURCE_DATE_EPOCH to its time in seconds since 1970.",
  );
}

/** What is made from the tree, or belongs to no commit. */
const left = new Set(["node_modules", "dist", ".lab", ".git"]);

/** Runs the work in the copy. */
export async function withSource<T>(tree: string, version: string, work: (copy: string) => Promise<T>): Promise<T> {
  const copy = await mkdtemp(path.join(tmpdir(), "release-source-"));
  try {
    for (const name of await readdir(tree))
      if (!left.has(name))
        await cp(path.join(tree, name), path.join(copy, name), {
          recursive: true,
          filter: (file) => path.basename(file) !== "node_modules",
        });
    await symlink(path.join(tree, "node_modules"), path.join(copy, "node_modules"));
    const file = path.join(copy, "package.json");
    const manifest = JSON.parse(await readFile(file, "utf8")) as { version: string };
    await writeFile(file, `${JSON.stringify({ ...manifest, version }, undefined, 2)}\n`);
    await mkdir(path.join(copy, "dist"));
    return await work(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
