// The stores besides S3 that the pods of the lab reach: Azure, Google and a volume, each with the Secret that opens it in the
// form of etcd-operator 0.9, and the part of a spec that says where the backup is.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after } from "node:test";
import { ContainerClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { hostAddress } from "../../../lab/config.ts";
import { azuriteAccount, azuriteKey, startAzurite } from "../../../lab/stores/azurite.ts";
import { startFakeGcs } from "../../../lab/stores/fake-gcs.ts";
import { freePort, type Place, type StoreServer } from "../../../lab/stores/server.ts";
import type { EtcdBackupSpec } from "../../../src/api/etcd-backup/etcd-backup.ts";
import { PersistentVolumeClaim, Secret } from "../../../src/kube/objects/kinds.ts";
import { type Authority, makeAuthority, makeLeaf } from "../../../src/tls/make.ts";
import { kube, lab } from "../../e2e/support/environment.ts";

const first = "backups";

/** What a spec says of one of them. */
export type Where = Pick<EtcdBackupSpec, "storageType" | "abs" | "gcs" | "pvc">;

/** Where backups are kept under this key. */
export type OtherStore = (key: string) => Where;

const started: { readonly server: StoreServer; readonly home: string }[] = [];
// It ends with the file, not with the hook that starts one.
after(async () => {
  for (const { server, home } of started) {
    await server.kill();
    await rm(home, { recursive: true, force: true });
  }
});

async function startServer(start: (place: Place) => Promise<StoreServer>): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), "store-"));
  const host = hostAddress(lab);
  const server = await start({ host, port: await freePort(host), folder: path.join(home, "objects") });
  started.push({ server, home });
  return server.url;
}

export async function azure(namespace: string): Promise<OtherStore> {
  const endpoint = await startServer(startAzurite);
  const login = new StorageSharedKeyCredential(azuriteAccount, azuriteKey);
  await new ContainerClient(`${endpoint}/${azuriteAccount}/${first}`, login).create();
  const stringData = { "storage-account": azuriteAccount, "storage-key": azuriteKey };
  await kube.create(Secret, { metadata: { namespace, name: "abs" }, stringData });
  return (key) => ({ storageType: "ABS", abs: { path: `${first}/${key}`, absSecret: "abs", endpoint } });
}

/** Its server checks no credentials. It speaks TLS: tokens go nowhere else. */
export async function google(namespace: string): Promise<OtherStore> {
  const authority = await makeAuthority("google", Date.now());
  const endpoint = await startServer(async (place) =>
    startFakeGcs(place, { buckets: [first], tls: await certificates(authority, place) }),
  );
  await kube.create(Secret, { metadata: { namespace, name: "gcp" }, stringData: { "access-token": "a-token" } });
  await kube.create(Secret, { metadata: { namespace, name: "gcp-ca" }, stringData: { "ca.crt": authority.cert } });
  const where = { gcpSecret: "gcp", caSecret: "gcp-ca", endpoint };
  return (key) => ({ storageType: "GCS", gcs: { path: `${first}/${key}`, ...where } });
}

/** As files beside what is stored. */
async function certificates(authority: Authority, { host, folder }: Place): Promise<{ cert: string; key: string }> {
  const leaf = await makeLeaf(authority, { commonName: "google", names: [], ips: [host], use: "server" }, Date.now());
  const files = { cert: `${folder}.crt`, key: `${folder}.key` };
  await writeFile(files.cert, leaf.cert);
  await writeFile(files.key, leaf.key, { mode: 0o600 });
  return files;
}

export async function volume(namespace: string): Promise<OtherStore> {
  await kube.create(PersistentVolumeClaim, {
    metadata: { namespace, name: first },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  return (key) => ({ storageType: "PVC", pvc: { claimName: first, path: key } });
}
