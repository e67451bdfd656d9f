// A store in a container of Azure's blobs.
import { Readable } from "node:stream";
import { abortedBy, BaseStore, infoOf, undefinedIf } from "../base-store.ts";
import { bodyOf } from "../body.ts";
import type { LeftoversCall, ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../store.ts";
import { type AzureConnection, type AzureTarget, connectAzure } from "./azure-client.ts";
import { azureRefusals, isMissing } from "./azure-errors.ts";
import { uploadToAzure } from "./azure-upload.ts";

export const openAzure = async (target: AzureTarget): Promise<ObjectStore> =>
  new AzureStore(await connectAzure(target));

class AzureStore extends BaseStore implements ObjectStore {
  readonly #at: AzureConnection;

  constructor(at: AzureConnection) {
    super(at.name, azureRefusals);
    this.#at = at;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    const attempt = this.attempt("write", key, options);
    const blob = this.#at.container.getBlockBlobClient(key);
    await attempt.run(() => uploadToAzure({ blob, options, attempt }, body));
  }

  async get(key: string, call: StoreCall = {}): Promise<StoredObject | undefined> {
    const attempt = this.attempt("read", key, call);
    return attempt.run(async () => {
      const answer = await this.#at.container
        .getBlobClient(key)
        .download(0, undefined, abortedBy(call))
        .catch(undefinedIfMissing);
      if (!answer) return undefined;
      const stream = answer.readableStreamBody;
      const readable = stream instanceof Readable ? stream : Readable.from(stream ?? []);
      const body = bodyOf(readable, (error) => attempt.explained(error), call.signal);
      return { ...infoOf(key, answer.contentLength, answer.lastModified), body };
    });
  }

  async head(key: string, call: StoreCall = {}): Promise<ObjectInfo | undefined> {
    const attempt = this.attempt("look up", key, call);
    return attempt.run(async () => {
      const answer = await this.#at.container
        .getBlobClient(key)
        .getProperties(abortedBy(call))
        .catch(undefinedIfMissing);
      return answer && infoOf(key, answer.contentLength, answer.lastModified);
    });
  }

  async *list(prefix: string, call: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    const attempt = this.attempt("list", prefix, call);
    const pages = this.#at.container.listBlobsFlat({ prefix, ...abortedBy(call) }).byPage();
    while (true) {
      const page = await attempt.run(() => pages.next());
      if (page.done === true) return;
      for (const { name, properties } of page.value.segment.blobItems)
        yield infoOf(name, properties.contentLength, properties.lastModified);
    }
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    const attempt = this.attempt("delete", key, call);
    await attempt.run(() =>
      this.#at.container
        .getBlobClient(key)
        .delete({ ...abortedBy(call), deleteSnapshots: "include" })
        .catch(undefinedIfMissing),
    );
  }

  /** Azure itself forgets blocks that nobody committed, after a week; until then they are in no list. */
  async abortLeftovers(prefix: string, call: LeftoversCall = {}): Promise<number> {
    return this.attempt("clean up", prefix, call).run(async () => 0);
  }

  close(): void {
    this.#at.close();
  }
}

const undefinedIfMissing = undefinedIf(isMissing);
