// Makes the earlier operator that upgrades are tried from, out of a commit of this repository: one compressed file, which
// stands in the tree so that a shallow clone and an export have it, too.
//   node src/cluster/testing/earlier/make.ts COMMIT
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { earlierFile } from "./load.ts";

const tree = path.resolve(import.meta.dirname, "../../../..");
const [commit] = process.argv.slice(2);
if (commit === undefined) throw new RangeError("which commit?");

/** What `load.ts` reads from it. */
const entry = (hash: string): string => `
export const commit = ${JSON.stringify(hash)};
export { clusterController } from "./src/cluster/controller.ts";
export { backupController } from "./src/backup/controller.ts";
export { restoreController } from "./src/restore/controller.ts";
export { RuntimeObserver } from "./src/kube/process/runtime-observer.ts";
export { silent } from "./src/kube/process/log.ts";
export { ApiError } from "./src/kube/client/errors.ts";
export { EtcdError } from "./src/etcd/errors.ts";
export { LeadershipLost } from "./src/kube/leader/fence.ts";
export { TransportError } from "./src/transport/errors.ts";
export const program = () => import("./src/main.ts");
`;

const folder = mkdtempSync(path.join(tmpdir(), "earlier-"));
try {
  const git = (...args: string[]): Buffer => execFileSync("git", args, { cwd: tree, maxBuffer: 2 ** 30 });
  const hash = git("rev-parse", "--verify", `${commit}^{commit}`).toString().trim();
  execFileSync("tar", ["--extract", "--directory", folder], {
    input: git("archive", hash, "src", "package.json", "tsconfig.json"),
  });
  symlinkSync(path.join(tree, "node_modules"), path.join(folder, "node_modules"));
  writeFileSync(path.join(folder, "earlier.ts"), entry(hash));
  const outfile = path.join(folder, "earlier.cjs");
  await build({
    absWorkingDir: folder,
    entryPoints: ["earlier.ts"],
    outfile,
    bundle: true,
    minifyWhitespace: true,
    minifySyntax: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    legalComments: "none",
    logLevel: "warning",
  });
  writeFileSync(earlierFile, brotliCompressSync(readFileSync(outfile)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
