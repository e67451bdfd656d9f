// One upload to Azure: a small body by one request, a larger one in blocks that become a blob only when they are
// committed. Blocks that never are vanish after a week.
import { createHash, randomBytes } from "node:crypto";
import type { BlockBlobClient } from "@azure/storage-blob";
import type { StoreAttempt } from "../attempt.ts";
import { abortedBy, mark } from "../base-store.ts";
import { type Part, sendParts } from "../parts.ts";
import type { PutOptions } from "../store.ts";
import { azureProblem } from "./azure-errors.ts";

interface AzureUpload {
  readonly blob: BlockBlobClient;
  readonly options: PutOptions;
  readonly attempt: StoreAttempt;
}

export async function uploadToAzure(upload: AzureUpload, body: AsyncIterable<Uint8Array>): Promise<void> {
  const { blob, options, attempt } = upload;
  const { mustBeNew = false, contentType } = options;
  const id = randomBytes(8).toString("hex");
  const call = abortedBy(options);
  const finish = {
    ...call,
    metadata: { [mark]: id },
    ...(contentType !== undefined && { blobHTTPHeaders: { blobContentType: contentType } }),
    ...(mustBeNew && { conditions: { ifNoneMatch: "*" } }),
  };
  // Before gigabytes are sent in vain. What the store says at the end decides.
  if (mustBeNew && (await markOf(upload)) !== undefined) throw attempt.failure("exists");

  const blocks: string[] = [];
  const sendPart = async ({ number, bytes, last }: Part): Promise<void> => {
    if (last && number === 1) return finishing(upload, id, () => blob.upload(bytes, bytes.length, finish));
    // All ids of a blob must have one length.
    const block = Buffer.from(`${id}-${String(number).padStart(6, "0")}`).toString("base64");
    const transactionalContentMD5 = createHash("md5").update(bytes).digest();
    await blob.stageBlock(block, bytes, bytes.length, { ...call, transactionalContentMD5 });
    blocks.push(block);
  };
  await sendParts(body, sendPart, options);
  if (blocks.length > 0) await finishing(upload, id, () => blob.commitBlockList(blocks, finish));
}

/** The request that makes the blob visible. */
async function finishing(upload: AzureUpload, id: string, finish: () => Promise<unknown>): Promise<void> {
  try {
    await finish();
  } catch (error) {
    const { status, code } = azureProblem(error);
    const conflict = status === 409 || status === 412 || code === "InvalidBlockList";
    if (!conflict) throw error;
    const found = await markOf(upload);
    // The first answer was lost, and this one is about the blob that the first request made.
    if (found === id) return;
    if (found !== undefined && upload.options.mustBeNew === true) throw upload.attempt.failure("exists");
    throw error;
  }
}

async function markOf({ blob, options }: AzureUpload): Promise<string | undefined> {
  const properties = await blob.getProperties(abortedBy(options)).catch(() => undefined);
  return properties && (properties.metadata?.[mark] ?? "");
}
