// All that `make plugin` leaves, as people use it: the executable without Node, the archive and the manifest by krew itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, open, readFile, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { parse } from "yaml";
import { ensureBinaries } from "../../lab/build/binaries.ts";
import { ensureKrew } from "../../lab/build/krew.ts";
import { labConfig } from "../../lab/config.ts";
import { run } from "../../lab/machine/command.ts";
import { type BuiltPlugin, buildPlugin } from "../../lab/plugin/build.ts";
import { buildExecutable } from "../../lab/plugin/executable.ts";
import { type Architecture, isOwn, nodeFor } from "../../lab/plugin/node-package.ts";
import { version } from "../../src/version.ts";

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-plugin-"));
after(() => rmSync(folder, { recursive: true, force: true }));

let plugin: BuiltPlugin;
let executable: string;
before(async () => {
  plugin = await buildPlugin(folder, { uri: "https://example.org/{version}/{file}", homepage: "https://example.org" });
  executable = plugin.executables.find(({ architecture }) => isOwn(architecture))!.file;
});

interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** With this environment and nothing of ours. */
function answer(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

async function sha256(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

describe("the executable", () => {
  const lines: readonly (readonly [words: string[], code: number, says: RegExp])[] = [
    [["version"], 0, new RegExp(`^kubectl-etcd ${version} `)],
    [["--help"], 0, /replace-member/],
    [["status", "--help"], 0, /kubectl etcd status/],
    [["completion"], 0, /exec kubectl etcd __complete/],
    [["__complete", "sta"], 0, /^status\t/],
    [["no-such-command"], 2, /"no-such-command" is not a command/],
    [["status", "--no-such-flag"], 2, /--no-such-flag is not a flag/],
  ];
  for (const [words, code, says] of lines)
    test(`kubectl etcd ${words.join(" ")} answers without Node and PATH, as the file does with Node`, async () => {
      const found = await answer(executable, words);
      assert.equal(found.code, code);
      assert.match(found.stdout + found.stderr, says);
      assert.deepEqual(found, await answer(process.execPath, [plugin.file, ...words]));
    });

  test("NODE_OPTIONS, which can keep the file from starting, do not reach it", async () => {
    const env = { NODE_OPTIONS: "--no-such-option" };
    assert.match((await answer(process.execPath, [plugin.file, "version"], env)).stderr, /not allowed in NODE_OPTIONS/);
    assert.deepEqual(await answer(executable, ["version"], env), await answer(executable, ["version"]));
  });

  test("built again it has the same bytes", async () => {
    const again = path.join(folder, "again");
    const { program } = await nodeFor(plugin.executables.find(({ file }) => file === executable)!.architecture);
    await buildExecutable(plugin.file, program, again);
    assert.equal(await sha256(again), await sha256(executable));
  });

  test("each architecture has one, and it is of that architecture", async () => {
    const machines: Record<Architecture, number> = { amd64: 62, arm64: 183 };
    assert.deepEqual(plugin.executables.map(({ architecture }) => architecture).sort(), Object.keys(machines).sort());
    for (const { architecture, file } of plugin.executables) {
      const handle = await open(file);
      const { buffer } = await handle.read(Buffer.alloc(20), 0, 20, 0);
      await handle.close();
      assert.equal(buffer.readUInt16LE(18), machines[architecture], architecture);
    }
  });
});

/** macOS is not to be had here: what its archive holds runs on any system with a shell and Node. */
describe("the archive for macOS", () => {
  const unpacked = path.join(folder, "mac");
  /** As krew links it: through another link, relative to its own folder. */
  const linked = path.join(folder, "mac-bin", "kubectl-etcd");
  const system = ["sh", "dirname", "readlink"];
  before(async () => {
    const { file } = plugin.archives.find(({ system }) => system === "darwin")!;
    await mkdir(unpacked);
    await run("tar", ["-xzf", path.join(path.dirname(plugin.manifest), file), "-C", unpacked]);
    await mkdir(path.dirname(linked));
    await symlink(path.join(unpacked, "kubectl-etcd"), path.join(folder, "mac-bin", "first"));
    await symlink("first", linked);
    for (const name of system) {
      const found = (await run("sh", ["-c", `command -v ${name}`])).trim();
      await symlink(found, path.join(folder, "mac-bin", name));
    }
  });

  for (const words of [["version"], ["--help"], ["no-such-command"]])
    test(`kubectl etcd ${words.join(" ")} answers through a link as the file does`, async () => {
      const env = { PATH: `${path.dirname(linked)}:${path.dirname(process.execPath)}` };
      assert.deepEqual(await answer(linked, words, env), await answer(process.execPath, [plugin.file, ...words]));
    });

  test("without Node it says what to install", async () => {
    const found = await answer(linked, ["version"], { PATH: path.dirname(linked) });
    assert.equal(found.code, 127);
    assert.match(found.stderr, /^kubectl etcd needs Node\.js 24\.0 or newer\. Install it from https:/);
  });

  test("is small, since it has no Node in it", async () => {
    const { file } = plugin.archives.find(({ system }) => system === "darwin")!;
    const { size } = await stat(path.join(path.dirname(plugin.manifest), file));
    assert.ok(size < 2 * 2 ** 20, `${size} bytes`);
  });
});

describe("for krew", () => {
  test("the manifest has the hash of each archive, and an archive the program and its licenses", async () => {
    const { spec } = parse(await readFile(plugin.manifest, "utf8")) as {
      spec: {
        platforms: {
          selector: { matchLabels: Record<"os" | "arch", string> };
          uri: string;
          sha256: string;
          bin: string;
        }[];
      };
    };
    assert.deepEqual(
      spec.platforms.map(({ selector: { matchLabels } }) => `${matchLabels.os}/${matchLabels.arch}`).sort(),
      ["darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"],
    );
    for (const { selector, uri, sha256: said, bin } of spec.platforms) {
      const archive = path.join(path.dirname(plugin.manifest), path.basename(uri));
      assert.equal(uri, `https://example.org/${version}/${path.basename(archive)}`);
      assert.equal(said, await sha256(archive));
      const listed = (await run("tar", ["--numeric-owner", "-tvzf", archive])).trim().split("\n");
      assert.deepEqual(
        listed.map((line) => line.replace(/\s.*\s/, " ")),
        selector.matchLabels.os === "darwin"
          ? [`-rwxr-xr-x ${bin}`, "-rw-r--r-- kubectl-etcd.cjs", "-rw-r--r-- LICENSE"]
          : [`-rwxr-xr-x ${bin}`, "-rw-r--r-- LICENSE", "-rw-r--r-- LICENSE.node"],
      );
    }
  });

  test("krew's own check passes the manifest, and krew installs the archive, so that kubectl has it", async () => {
    const programs = await ensureKrew();
    await run(programs.validate, ["-skip-install", "-manifest", plugin.manifest]);
    const lab = labConfig();
    await ensureBinaries(lab);
    const bin = path.join(folder, "bin");
    const krewRoot = path.join(folder, "root");
    await mkdir(bin);
    await symlink(programs.krew, path.join(bin, "kubectl-krew"));
    const env = { PATH: `${bin}:${path.join(krewRoot, "bin")}`, HOME: folder, KREW_ROOT: krewRoot };
    const kubectl = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await answer(path.join(lab.bin, "kubectl"), words, env);
      assert.equal(code, 0, stderr);
      return stdout + stderr;
    };
    const { file } = plugin.archives.find(
      ({ system, architectures }) => system === "linux" && architectures.some(isOwn),
    )!;
    const archive = path.join(path.dirname(plugin.manifest), file);
    const said = await kubectl("krew", "install", `--manifest=${plugin.manifest}`, `--archive=${archive}`);
    assert.match(said, /Installed plugin: etcd/);
    assert.match(said, /kubectl etcd completion --install/);
    assert.match(await kubectl("etcd", "version"), new RegExp(`^kubectl-etcd ${version} `));
  });
});
