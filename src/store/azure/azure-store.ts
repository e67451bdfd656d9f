// A store in a container of Azure's blobs.
import { Readable } from "node:stream";
import { bodyOf } from "../body.ts";
import { checkKey } from "../path.ts";
import type { Attempt, Verb } from "../sentences.ts";
import type { LeftoversCall, ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../store.ts";
import { type AzureConnection, type AzureTarget, connectAzure } from "./azure-client.ts";
import { azureProblem, explainAzure } from "./azure-errors.ts";
import { uploadToAzure } from "./azure-upload.ts";

export const openAzure = async (target: AzureTarget): Promise<ObjectStore> =>
  new AzureStore(await connectAzure(target));

class AzureStore implements ObjectStore {
  readonly name: string;
  readonly #at: AzureConnection;

  constructor(at: AzureConnection) {
    this.#at = at;
    this.name = at.name;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    const attempt = this.#attempt("write", checkKey(key));
    const blob = this.#at.container.getBlockBlobClient(key);
    await this.#trying(attempt, options, () => uploadToAzure({ blob, options, attempt }, body));
  }

  async get(key: string, call: StoreCall = {}): Promise<StoredObject | undefined> {
    const attempt = this.#attempt("read", checkKey(key));
    return this.#trying(attempt, call, async () => {
      const answer = await this.#at.container
        .getBlobClient(key)
        .download(0, undefined, sending(call))
        .catch(undefinedIfMissing);
      if (!answer) return undefined;
      const stream = answer.readableStreamBody;
      const readable = stream instanceof Readable ? stream : Readable.from(stream ?? []);
      const body = bodyOf(readable, (error) => explainAzure(attempt, error), call.signal);
      return { ...infoOf(key, answer.contentLength, answer.lastModified), body };
    });
  }

  async head(key: string, call: StoreCall = {}): Promise<ObjectInfo | undefined> {
    const attempt = this.#attempt("look up", checkKey(key));
    return this.#trying(attempt, call, async () => {
      const answer = await this.#at.container.getBlobClient(key).getProperties(sending(call)).catch(undefinedIfMissing);
      return answer && infoOf(key, answer.contentLength, answer.lastModified);
    });
  }

  async *list(prefix: string, call: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    const attempt = this.#attempt("list", prefix);
    const pages = this.#at.container.listBlobsFlat({ prefix, ...sending(call) }).byPage();
    while (true) {
      const page = await this.#trying(attempt, call, () => pages.next());
      if (page.done === true) return;
      for (const { name, properties } of page.value.segment.blobItems)
        yield infoOf(name, properties.contentLength, properties.lastModified);
    }
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    const attempt = this.#attempt("delete", checkKey(key));
    await this.#trying(attempt, call, () =>
      this.#at.container
        .getBlobClient(key)
        .delete({ ...sending(call), deleteSnapshots: "include" })
        .catch(undefinedIfMissing),
    );
  }

  /** Azure itself forgets blocks that nobody committed, after a week; until then they are in no list. */
  async abortLeftovers(prefix: string, call: LeftoversCall = {}): Promise<number> {
    return this.#trying(this.#attempt("clean up", prefix), call, async () => 0);
  }

  close(): void {
    this.#at.close();
  }

  #attempt(to: Verb, key: string): Attempt {
    return { store: this.name, to, key };
  }

  async #trying<T>(attempt: Attempt, { signal }: StoreCall, work: () => Promise<T>): Promise<T> {
    try {
      signal?.throwIfAborted();
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      throw explainAzure(attempt, error);
    }
  }
}

const sending = ({ signal }: StoreCall): { abortSignal?: AbortSignal } => (signal ? { abortSignal: signal } : {});

const infoOf = (key: string, bytes: number | undefined, modified: Date | undefined): ObjectInfo => ({
  key,
  bytes: bytes ?? 0,
  modified: modified?.getTime() ?? 0,
});

/** A missing container is another matter; a HEAD cannot tell, and has no code at all. */
function undefinedIfMissing(error: unknown): undefined {
  const { code, status } = azureProblem(error);
  if (status === 404 && code !== "ContainerNotFound" && code !== "ContainerBeingDeleted") return undefined;
  throw error;
}
