// A store in a bucket of Google's Cloud Storage.
import { BaseStore, undefinedIf } from "../base-store.ts";
import { bodyOf } from "../body.ts";
import type { LeftoversCall, ObjectInfo, ObjectStore, PutOptions, StoreCall, StoredObject } from "../store.ts";
import { connectGcs, type GcsConnection, type GcsTarget } from "./gcs-client.ts";
import { gcsRefusals, isMissing } from "./gcs-errors.ts";
import { ask, GcsRefusal, withRetries } from "./gcs-http.ts";
import { uploadToGcs } from "./gcs-upload.ts";

export const openGcs = async (target: GcsTarget): Promise<ObjectStore> => new GcsStore(await connectGcs(target));

interface GcsObject {
  readonly name: string;
  readonly size?: string;
  readonly updated?: string;
  readonly generation?: string;
}

const fields = "name,size,updated,generation";

class GcsStore extends BaseStore implements ObjectStore {
  readonly #at: GcsConnection;

  constructor(at: GcsConnection) {
    super(at.name, gcsRefusals);
    this.#at = at;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<void> {
    const attempt = this.attempt("write", key, options);
    await attempt.run(() => uploadToGcs({ at: this.#at, key, options, attempt }, body));
  }

  async get(key: string, call: StoreCall = {}): Promise<StoredObject | undefined> {
    const attempt = this.attempt("read", key, call);
    return attempt.run(async () => {
      const object = await this.#object(key, call);
      if (!object) return undefined;
      const stream = await withRetries(async () => {
        const answer = await ask(this.#at.agents, {
          method: "GET",
          url: this.#at.object(key, { alt: "media", generation: object.generation }),
          headers: await this.#at.identity(),
          signal: call.signal,
        });
        if (answer.statusCode === 200) return answer;
        answer.resume();
        throw new GcsRefusal(answer.statusCode ?? 0, "");
      }, call.signal);
      return { ...infoOf(object), key, body: bodyOf(stream, (error) => attempt.explained(error), call.signal) };
    });
  }

  async head(key: string, call: StoreCall = {}): Promise<ObjectInfo | undefined> {
    const attempt = this.attempt("look up", key, call);
    return attempt.run(async () => {
      const object = await this.#object(key, call);
      return object && infoOf(object);
    });
  }

  async *list(prefix: string, call: StoreCall = {}): AsyncGenerator<ObjectInfo> {
    const attempt = this.attempt("list", prefix, call);
    let pageToken: string | undefined;
    do {
      const url = this.#at.object(undefined, { prefix, pageToken, fields: `nextPageToken,items(${fields})` });
      const answer = await attempt.run(() => this.#at.call({ method: "GET", url, ...call }));
      const page = JSON.parse(answer.text) as { items?: GcsObject[]; nextPageToken?: string };
      for (const object of page.items ?? []) yield infoOf(object);
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined && pageToken !== "");
  }

  async delete(key: string, call: StoreCall = {}): Promise<void> {
    const attempt = this.attempt("delete", key, call);
    await attempt.run(() =>
      this.#at.call({ method: "DELETE", url: this.#at.object(key), ...call }).catch(undefinedIfMissing),
    );
  }

  /** Google itself ends sessions that nobody finished, after a week; until then they are in no list, nor can be listed. */
  async abortLeftovers(prefix: string, call: LeftoversCall = {}): Promise<number> {
    return this.attempt("clean up", prefix, call).run(async () => 0);
  }

  close(): void {
    this.#at.close();
  }

  async #object(key: string, call: StoreCall): Promise<GcsObject | undefined> {
    const answer = await this.#at
      .call({ method: "GET", url: this.#at.object(key, { fields }), ...call })
      .catch(undefinedIfMissing);
    return answer && (JSON.parse(answer.text) as GcsObject);
  }
}

const infoOf = ({ name, size, updated }: GcsObject): ObjectInfo => ({
  key: name,
  bytes: Number(size ?? 0),
  modified: Date.parse(updated ?? "") || 0,
});

const undefinedIfMissing = undefinedIf(isMissing);
