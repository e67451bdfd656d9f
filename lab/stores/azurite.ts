// Azurite: Azure's blobs, with the account and the key that it always has.
import * as path from "node:path";
import { ensureBuilt } from "../build/cache.ts";
import { storeServers } from "../build/stores.ts";
import { type Place, StoreServer } from "./server.ts";

/** Public: every Azurite has them. */
export const azuriteAccount = "devstoreaccount1";
export const azuriteKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

export async function startAzurite(place: Place): Promise<StoreServer> {
  const main = path.join(await ensureBuilt(storeServers.azurite), "node_modules/azurite/dist/src/blob/main.js");
  // Without the first it reports to its makers.
  const settings = ["--disableTelemetry", "--silent", "--skipApiVersionCheck", "--disableProductStyleUrl"];
  const where = ["--blobHost", place.host, "--blobPort", `${place.port}`, "--location", place.folder];
  return StoreServer.start(place, { name: "azurite", argv: [process.execPath, main, ...settings, ...where] });
}
