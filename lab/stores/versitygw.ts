// versitygw: S3 over a folder. Each folder in its root is a bucket.
import { mkdir } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt } from "../build/cache.ts";
import { storeServers } from "../build/stores.ts";
import { run } from "../machine/command.ts";
import { type Place, StoreServer } from "./server.ts";

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** May do everything. */
export const rootKeys: S3Keys = { accessKeyId: "lab", secretAccessKey: "lab-secret-key" };

interface VersitygwOptions {
  /** Buckets that are made first. */
  readonly buckets?: readonly string[];
  /** Answers for `<bucket>.<domain>`, too. */
  readonly virtualDomain?: string;
  /** Files in PEM; it then speaks TLS only. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

const program = async (): Promise<string> => path.join(await ensureBuilt(storeServers.versitygw), "versitygw");

export async function startVersitygw(place: Place, options: VersitygwOptions = {}): Promise<StoreServer> {
  const users = `${place.folder}-users`;
  await mkdir(users, { recursive: true });
  for (const bucket of options.buckets ?? []) await mkdir(path.join(place.folder, bucket), { recursive: true });
  const { accessKeyId, secretAccessKey } = rootKeys;
  const settings = ["--port", `${place.host}:${place.port}`, "--iam-dir", users, "--quiet", "--keep-alive"];
  const domain = options.virtualDomain === undefined ? [] : ["--virtual-domain", options.virtualDomain];
  const tls = options.tls ? ["--cert", options.tls.cert, "--key", options.tls.key] : [];
  return StoreServer.start(place, {
    name: "versitygw",
    scheme: options.tls ? "https" : "http",
    argv: [await program(), ...settings, ...domain, ...tls, "posix", place.folder],
    env: { ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey },
  });
}

/** A user without permissions on the buckets that are there. */
export async function addS3User(server: StoreServer, keys: S3Keys): Promise<void> {
  const admin = ["admin", "--endpoint-url", server.url];
  const user = ["--access", keys.accessKeyId, "--secret", keys.secretAccessKey, "--role", "user"];
  await run(await program(), [...admin, "create-user", ...user], {
    env: { ADMIN_ACCESS_KEY_ID: rootKeys.accessKeyId, ADMIN_SECRET_ACCESS_KEY: rootKeys.secretAccessKey },
  });
}
