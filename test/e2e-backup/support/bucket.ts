// An S3 server that the pods of the lab reach, a bucket in it, and the Secret that opens it, in the form of etcd-operator 0.9.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after } from "node:test";
import { hostAddress } from "../../../lab/config.ts";
import { freePort, type StoreServer } from "../../../lab/stores/server.ts";
import { rootKeys, startVersitygw } from "../../../lab/stores/versitygw.ts";
import { Secret } from "../../../src/kube/objects/kinds.ts";
import { kube, lab } from "../../e2e/support/environment.ts";

const bucket = "backups";
const awsSecret = "aws";

export class Bucket {
  readonly server: StoreServer;
  /** Where its objects are on this machine. */
  readonly folder: string;

  constructor(server: StoreServer, folder: string) {
    this.server = server;
    this.folder = folder;
  }

  /** The fields of a spec that keeps its backups here. */
  at(key: string) {
    const { url } = this.server;
    return { path: `${bucket}/${key}`, awsSecret, endpoint: url, forcePathStyle: true };
  }

  /** The keys that begin like this, metadata left out. */
  async keys(prefix: string): Promise<string[]> {
    const all = await readdir(path.join(this.folder, bucket), { recursive: true, withFileTypes: true });
    const root = path.join(this.folder, bucket);
    return all
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .filter((key) => key.startsWith(prefix) && !key.endsWith(".json") && !key.startsWith(".sgwtmp"))
      .toSorted();
  }

  file(key: string): string {
    return path.join(this.folder, bucket, key);
  }

  /** Before anything in the namespace uses it. */
  async open(namespace: string, name = awsSecret): Promise<void> {
    const { accessKeyId, secretAccessKey } = rootKeys;
    const stringData = {
      credentials: `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
      config: "[default]\nregion = us-east-1\n",
    };
    await kube.create(Secret, { metadata: { namespace, name }, stringData });
  }
}

const started: { readonly server: StoreServer; readonly home: string }[] = [];
// It ends with the file, not with the hook that starts one.
after(async () => {
  for (const { server, home } of started) {
    await server.kill();
    await rm(home, { recursive: true, force: true });
  }
});

/** Ends with the file. */
export async function startBucket(): Promise<Bucket> {
  const home = await mkdtemp(path.join(tmpdir(), "bucket-"));
  const folder = path.join(home, "s3");
  const host = hostAddress(lab);
  const server = await startVersitygw({ host, port: await freePort(host), folder }, { buckets: [bucket] });
  started.push({ server, home });
  return new Bucket(server, folder);
}
