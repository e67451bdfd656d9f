// What the operator's own client has no calls for: leases and watches.
import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";
import { ensureBuilt } from "../../lab/build/cache.ts";
import { controlPlaneEtcd, etcdRecipe } from "../../lab/build/etcd.ts";

interface Said {
  readonly code: number;
  readonly text: string;
}

/** Ends after a while, whatever it does. */
export async function etcdctl(endpoint: string, ...args: string[]): Promise<Said> {
  const program = path.join(await ensureBuilt(await etcdRecipe(controlPlaneEtcd)), "etcdctl");
  try {
    // Its own patience, of two and five seconds, is not that of a busy machine.
    const patience = ["--dial-timeout=30s", "--command-timeout=30s"];
    const { stdout, stderr } = await promisify(execFile)(program, ["--endpoints", endpoint, ...patience, ...args], {
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    return { code: 0, text: stdout + stderr };
  } catch (error) {
    if (!(error instanceof Error) || !("stdout" in error) || !("stderr" in error)) throw error;
    return { code: 1, text: `${String(error.stdout)}${String(error.stderr)}` };
  }
}

/** Gives back the id of the lease. */
export async function putWithLease(endpoint: string, key: string, seconds: number): Promise<string> {
  const { text } = await etcdctl(endpoint, "lease", "grant", String(seconds));
  const id = /lease ([0-9a-f]+) granted/.exec(text)?.[1];
  if (id === undefined) throw new Error(`no lease was granted: ${text}`);
  const put = await etcdctl(endpoint, "put", key, "leased", `--lease=${id}`);
  if (put.code !== 0) throw new Error(put.text);
  return id;
}

/** As in `granted with TTL(600s), remaining(590s), attached keys([leased])`. */
export const leaseOf = async (endpoint: string, id: string): Promise<string> =>
  (await etcdctl(endpoint, "lease", "timetolive", id, "--keys")).text;
