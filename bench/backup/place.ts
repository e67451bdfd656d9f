// What benchmarks of the worker run on, without Kubernetes: a real etcd with data, an S3 server on loopback that speaks TLS
// as those of users do, and the worker from the bundle that the image has, as a process of its own.
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import * as path from "node:path";
import { step } from "../../lab/progress.ts";
import { rootKeys, startVersitygw } from "../../lab/stores/versitygw.ts";
import { makeAuthority, makeLeaf } from "../../src/tls/make.ts";
import type { StoreTarget } from "../../src/store/store.ts";
import type { BackupDone, BackupFacts, Done, Job } from "../../src/worker/job.ts";
import { WorkerProgram } from "../../test/backup/worker-process.ts";
import { RealEtcd } from "../../test/etcd/real-etcd.ts";
import { Ground as StoreGround } from "../../test/stores/ground.ts";
import { PlainSteps } from "./plain.ts";

const bucket = "backups";
const etcdVersion = "3.6.16";
/** Below etcd's limit of a request, which is 1.5 MiB. */
const valueBytes = 1_400_000;

type S3Target = Extract<StoreTarget, { type: "S3" }>;

interface Worked {
  readonly did: Done;
  /** The time of the whole process, from its start to its end. */
  readonly seconds: number;
  /** From its start until its log says so. */
  secondsUntil(message: string): number;
  /** The most memory that it had in use. */
  readonly peakMiB: number;
}

export class BackupPlace implements AsyncDisposable {
  readonly etcd: RealEtcd;
  readonly folder: string;
  readonly plain: PlainSteps;
  readonly #worker: WorkerProgram;
  readonly #store: S3Target;
  readonly #bucket: string;
  readonly #ends: AsyncDisposableStack;

  private constructor(
    parts: { etcd: RealEtcd; folder: string; plain: PlainSteps; worker: WorkerProgram; store: S3Target },
    ends: AsyncDisposableStack,
  ) {
    const { etcd, folder, plain, worker, store } = parts;
    this.etcd = etcd;
    this.folder = folder;
    this.plain = plain;
    this.#worker = worker;
    this.#store = store;
    this.#bucket = path.join(folder, "s3", bucket);
    this.#ends = ends;
  }

  static async open(mebibytes: number, signal: AbortSignal): Promise<BackupPlace> {
    await using opening = new AsyncDisposableStack();
    const ground = opening.use(await StoreGround.make());
    const { caFolder, tls } = await certificates(ground);
    const server = opening.use(await startVersitygw(await ground.place("s3"), { buckets: [bucket], tls }));
    const worker = opening.use(await WorkerProgram.make());
    const etcd = opening.use(await RealEtcd.start(etcdVersion, { flags: [`--quota-backend-bytes=${8 * 1024 ** 3}`] }));
    await fill(etcd, mebibytes, signal);
    const secretFolder = await ground.awsSecret("aws", rootKeys);
    const at = { url: `${server.url}/${bucket}`, ca: path.join(caFolder, "ca.crt") };
    const plain = await PlainSteps.find(etcd.clientUrl("m0"), at, signal);
    const store: S3Target = { type: "S3", bucket, endpoint: server.url, forcePathStyle: true, secretFolder, caFolder };
    const parts = { etcd, folder: ground.folder, plain, worker, store };
    return new BackupPlace(parts, opening.move());
  }

  async backup(key: string): Promise<Worked & { did: BackupDone }> {
    const worked = await this.#work({
      do: "backup",
      owner: { namespace: "bench", name: "bench" },
      run: key,
      source: { endpoints: [this.etcd.clientUrl("m0")] },
      store: this.#store,
      key: { t: "once", path: key },
      startedAt: new Date().toISOString(),
      stalledAfterSeconds: 60,
    });
    const { did } = worked;
    if (did.do !== "backup") throw new Error(`a backup was asked for, and the worker did a ${did.do}`);
    return { ...worked, did };
  }

  async restore(backup: BackupFacts, dataDir: string): Promise<Worked> {
    const { key, sha256, revision, keys = 0, storageVersion } = backup;
    const worked = await this.#work({
      do: "restore",
      store: this.#store,
      key,
      sha256,
      proved: { revision, keys, ...(storageVersion !== undefined && { storageVersion }) },
      targetVersion: etcdVersion,
      member: { name: "m0", peerUrl: "http://127.0.0.1:2380" },
      token: "bench",
      dataDir,
      bumpRevision: 0,
      stalledAfterSeconds: 60,
    });
    const { did } = worked;
    if (did.do !== "restore" || !did.restored) throw new Error("the worker restored nothing");
    return worked;
  }

  /** Room for the next one. */
  async forget(key: string): Promise<void> {
    for (const file of [key, `${key}.json`]) await rm(path.join(this.#bucket, file), { force: true });
  }

  async #work(job: Job): Promise<Worked> {
    const began = performance.now();
    const since = (): number => (performance.now() - began) / 1000;
    const said: { line: string; at: number }[] = [];
    const { result, lines } = await this.#worker.run(job, {}, (line) => void said.push({ line, at: since() }));
    const seconds = since();
    if (!result.ok) throw new Error(`the worker failed: ${result.message}`);
    const peak = lines.find(({ message }) => message === "most memory that was in use")?.["bytes"];
    if (typeof peak !== "number") throw new Error("the worker did not say how much memory it used");
    return {
      did: result.did,
      seconds,
      secondsUntil(message) {
        const found = said.find(({ line }) => line.includes(`"${message}"`));
        if (found === undefined) throw new Error(`the worker did not say "${message}"`);
        return found.at;
      },
      peakMiB: peak / 1024 ** 2,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }
}

/** Writes the certificates of the S3 server as files. */
async function certificates(
  ground: StoreGround,
): Promise<{ caFolder: string; tls: { readonly cert: string; readonly key: string } }> {
  const authority = await makeAuthority("bench", Date.now());
  const request = { commonName: "s3", names: ["localhost"], ips: ["127.0.0.1"], use: "server" } as const;
  const leaf = await makeLeaf(authority, request, Date.now());
  const folder = await ground.secret("server", { "tls.crt": leaf.cert, "tls.key": leaf.key });
  const caFolder = await ground.secret("ca", { "ca.crt": authority.cert });
  return { caFolder, tls: { cert: path.join(folder, "tls.crt"), key: path.join(folder, "tls.key") } };
}

/** With random bytes, so that nothing on the way can make them fewer. */
async function fill(etcd: RealEtcd, mebibytes: number, signal: AbortSignal): Promise<void> {
  if (mebibytes === 0) return;
  const count = Math.ceil((mebibytes * 1024 ** 2) / valueBytes);
  const value = randomBytes(valueBytes);
  const member = etcd.member("m0");
  await step(`put ${mebibytes} MiB into an etcd`, async (progress) => {
    for (let number = 0; number < count; number += 1) {
      value.writeUInt32BE(number);
      await member.put(`bench/${number}`, value, { deadline: 30_000, signal });
      progress.detail(`${number + 1} of ${count} values`);
    }
  });
}
