// Opens the store that a target names. Each vendor's SDK is loaded only here, and only when it is used.
import type { ObjectStore, StoreTarget } from "./store.ts";

export async function openStore(target: StoreTarget): Promise<ObjectStore> {
  if (target.type === "PVC") return new (await import("./folder/folder-store.ts")).FolderStore(target.folder);
  if (target.type === "ABS") return (await import("./azure/azure-store.ts")).openAzure(target);
  if (target.type === "GCS") return (await import("./gcs/gcs-store.ts")).openGcs(target);
  // OSS speaks S3.
  return (await import("./s3/s3-store.ts")).openS3(target);
}
