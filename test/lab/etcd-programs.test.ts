// Programs of etcd that the lab builds are started for real; what is not built yet is built now, which takes minutes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { ensureBuilt } from "../../lab/build/cache.ts";
import { etcdRecipe } from "../../lab/build/etcd.ts";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
import { freePort } from "../support/free-port.ts";
import { triedVersions } from "../support/matrix.ts";

const freeUrl = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

for (const version of triedVersions)
  test(`etcd ${version} says its version and keeps what its own etcdctl puts`, async () => {
    const programs = await ensureBuilt(await etcdRecipe(version));
    assert.match(await run(path.join(programs, "etcd"), ["--version"]), new RegExp(`^etcd Version: ${version}$`, "m"));
    const data = await mkdtemp(path.join(tmpdir(), "etcd-build-"));
    const [client, peer] = [await freeUrl(), await freeUrl()];
    const log: string[] = [];
    const urls = { "listen-client-urls": client, "advertise-client-urls": client, "listen-peer-urls": peer };
    const peers = { "initial-advertise-peer-urls": peer, "initial-cluster": `default=${peer}`, "data-dir": data };
    const flags = Object.entries({ ...urls, ...peers }).map(([flag, value]) => `--${flag}=${value}`);
    const alone = ["--pdeathsig", "KILL", "--", path.join(programs, "etcd")];
    const etcd = spawn("setpriv", [...alone, ...flags], { stdio: ["ignore", "ignore", "pipe"] });
    etcd.stderr.setEncoding("utf8").on("data", (text: string) => log.push(text));
    const ended = once(etcd, "exit");
    try {
      const etcdctl = (...args: string[]): Promise<string> =>
        run(path.join(programs, "etcdctl"), [`--endpoints=${client}`, ...args], { env: { ETCDCTL_API: "3" } });
      await waitFor("the first put", () => etcdctl("put", "version", version), {
        timeoutMs: 120_000,
        lastSeen: () => log.join("").slice(-1000),
      });
      assert.equal(await etcdctl("get", "version"), `version\n${version}\n`);
      assert.match(await etcdctl("version"), new RegExp(`^etcdctl version: ${version}$`, "m"));
    } finally {
      etcd.kill("SIGTERM");
      await ended;
      await rm(data, { recursive: true });
    }
  });
