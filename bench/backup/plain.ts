// The floor: what a shell script without checks would do. etcd's own etcdctl and etcdutl make and restore the snapshot, and
// curl carries the file, in one request each way.
import * as path from "node:path";
import { ensureBuilt } from "../../lab/build/cache.ts";
import { controlPlaneEtcd, etcdRecipe } from "../../lab/build/etcd.ts";
import { run } from "../../lab/machine/command.ts";
import { rootKeys } from "../../lab/stores/versitygw.ts";
import { etcdutl } from "../../test/backup/jobs.ts";

interface Bucket {
  readonly url: string;
  /** The file with the CA of its server. */
  readonly ca: string;
}

export class PlainSteps {
  readonly #programs: { readonly etcdctl: string; readonly etcdutl: string };
  readonly #endpoint: string;
  readonly #bucket: Bucket;
  readonly #signal: AbortSignal;

  private constructor(
    programs: { etcdctl: string; etcdutl: string },
    endpoint: string,
    bucket: Bucket,
    signal: AbortSignal,
  ) {
    this.#programs = programs;
    this.#endpoint = endpoint;
    this.#bucket = bucket;
    this.#signal = signal;
  }

  static async find(endpoint: string, bucket: Bucket, signal: AbortSignal): Promise<PlainSteps> {
    const etcdctl = path.join(await ensureBuilt(await etcdRecipe(controlPlaneEtcd)), "etcdctl");
    return new PlainSteps({ etcdctl, etcdutl: await etcdutl() }, endpoint, bucket, signal);
  }

  async save(file: string): Promise<void> {
    const args = ["--endpoints", this.#endpoint, "--command-timeout=300s", "snapshot", "save", file];
    await run(this.#programs.etcdctl, args, { signal: this.#signal });
  }

  async put(file: string, key: string): Promise<void> {
    await this.#curl(["--upload-file", file], key);
  }

  async get(key: string, file: string): Promise<void> {
    await this.#curl(["--output", file], key);
  }

  /** As the worker calls it. */
  async restore(file: string, dataDir: string): Promise<void> {
    const member = ["--name=m0", "--initial-cluster=m0=http://127.0.0.1:2380", "--initial-cluster-token=bench"];
    const args = [...member, "--initial-advertise-peer-urls=http://127.0.0.1:2380", `--data-dir=${dataDir}`];
    await run(this.#programs.etcdutl, ["snapshot", "restore", file, ...args], { signal: this.#signal });
  }

  async #curl(args: readonly string[], key: string): Promise<void> {
    const { accessKeyId, secretAccessKey } = rootKeys;
    const signed = ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", `${accessKeyId}:${secretAccessKey}`];
    const unhashed = ["--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
    const { url, ca } = this.#bucket;
    const quietly = ["--cacert", ca, "--fail", "--silent", "--show-error", "--max-time", "600"];
    await run("curl", [...quietly, ...signed, ...unhashed, ...args, `${url}/${key}`], {
      signal: this.#signal,
    });
  }
}

/** Seconds that the work took. */
export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}
