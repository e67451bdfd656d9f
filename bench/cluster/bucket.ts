// An S3 server on this machine that the pods of the lab reach, and the Secret that opens it in a namespace.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { hostAddress } from "../../lab/config.ts";
import { freePort } from "../../lab/stores/server.ts";
import { rootKeys, startVersitygw } from "../../lab/stores/versitygw.ts";
import type { EtcdBackupSpec } from "../../src/api/etcd-backup/etcd-backup.ts";
import { Secret } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";

const bucket = "backups";

export class Bucket implements AsyncDisposable {
  readonly #url: string;
  readonly #secret: string;
  readonly #ends: AsyncDisposableStack;

  private constructor(url: string, secret: string, ends: AsyncDisposableStack) {
    this.#url = url;
    this.#secret = secret;
    this.#ends = ends;
  }

  static async open(ground: Pick<Ground, "lab" | "api">, namespace: string): Promise<Bucket> {
    await using opening = new AsyncDisposableStack();
    const folder = await mkdtemp(path.join(tmpdir(), "bench-bucket-"));
    opening.defer(() => rm(folder, { recursive: true, force: true }));
    const host = hostAddress(ground.lab);
    const place = { host, port: await freePort(host), folder: path.join(folder, "s3") };
    const server = opening.use(await startVersitygw(place, { buckets: [bucket] }));
    const name = path.basename(folder).toLowerCase();
    const { accessKeyId, secretAccessKey } = rootKeys;
    const stringData = {
      credentials: `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
      config: "[default]\nregion = us-east-1\n",
    };
    await ground.api.create(Secret, { metadata: { namespace, name }, stringData });
    return new Bucket(server.url, name, opening.move());
  }

  /** The spec of one backup of the cluster, under this key. */
  backupOf(cluster: string, key: string): EtcdBackupSpec {
    const s3 = { path: `${bucket}/${key}`, awsSecret: this.#secret, endpoint: this.#url, forcePathStyle: true };
    return { clusterRef: { name: cluster }, storageType: "S3", s3 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }
}
