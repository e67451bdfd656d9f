// fake-gcs-server: Google's Cloud Storage. It checks no credentials. Each folder in its root is a bucket.
import { mkdir } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt } from "../build/cache.ts";
import { storeServers } from "../build/stores.ts";
import { type Place, StoreServer } from "./server.ts";

interface FakeGcsOptions {
  /** Buckets that are made first. */
  readonly buckets?: readonly string[];
  /** What clients call it, where that is not its own address. Uploads are sent there. */
  readonly externalUrl?: string;
  /** Files in PEM; it then speaks TLS only. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export async function startFakeGcs(place: Place, options: FakeGcsOptions = {}): Promise<StoreServer> {
  for (const bucket of options.buckets ?? []) await mkdir(path.join(place.folder, bucket), { recursive: true });
  const program = path.join(await ensureBuilt(storeServers["fake-gcs-server"]), "fake-gcs-server");
  const address = `${place.host}:${place.port}`;
  const scheme = options.tls ? "https" : "http";
  const tls = options.tls ? ["-cert-location", options.tls.cert, "-private-key-location", options.tls.key] : [];
  const listen = ["-scheme", scheme, ...tls, "-host", place.host, "-port", `${place.port}`, "-log-level", "error"];
  const files = ["-backend", "filesystem", "-filesystem-root", place.folder];
  const names = ["-public-host", address, "-external-url", options.externalUrl ?? `${scheme}://${address}`];
  return StoreServer.start(place, { name: "fake-gcs-server", scheme, argv: [program, ...listen, ...files, ...names] });
}
