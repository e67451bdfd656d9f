// Takes the bytes of a watch apart into events: one JSON document a line. This is the hottest path of the program,
// so lines are found in the buffers as they come, and each is decoded and parsed once.
import { Collected } from "../../transport/collected.ts";
import { TransportError } from "../../transport/errors.ts";
import type { WatchEvent } from "./api.ts";
import type { KubeObject } from "../objects/objects.ts";
import { apiErrorOfStatus, isFields } from "./status.ts";

const newline = 0x0a;
/**
 * An object has 1.5 MiB at most where it is stored, and a text of which each character has to be escaped is six times as
 * long in JSON. Whoever sends a longer line is no API server.
 */
const longestLine = 16 << 20;

export class WatchDecoder<T extends KubeObject> {
  readonly #onEvent: (event: WatchEvent<T>) => void;
  /** The beginning of a line whose end has not come yet. */
  readonly #begun = new Collected("a watch", longestLine);

  constructor(onEvent: (event: WatchEvent<T>) => void) {
    this.#onEvent = onEvent;
  }

  /** Throws ApiError for an in-band error, TransportError for what is not an event, and whatever the receiver throws. */
  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(newline, from);
      if (end < 0) break;
      if (this.#begun.empty) {
        this.#line(chunk.toString("utf8", from, end));
      } else {
        this.#begun.add(chunk.subarray(from, end));
        const line = this.#begun.body.toString("utf8");
        this.#begun.clear();
        this.#line(line);
      }
      from = end + 1;
    }
    if (from < chunk.length) this.#begun.add(chunk.subarray(from));
  }

  /** True when the stream ended in the middle of an event. */
  get hasRest(): boolean {
    return !this.#begun.empty;
  }

  #line(line: string): void {
    if (line === "") return;
    const event = parse(line);
    const { type, object } = event;
    if (!isFields(object)) throw noEvent(line);
    switch (type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        // The server vouches for the shape: it is of the kind that was asked for.
        this.#onEvent({ type, object: object as T });
        return;
      case "BOOKMARK":
        this.#onEvent({ type, resourceVersion: resourceVersionOf(object, line) });
        return;
      case "ERROR":
        throw apiErrorOfStatus(object);
      default:
        throw noEvent(line);
    }
  }
}

function parse(line: string): Record<string, unknown> {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw noEvent(line, error);
  }
  if (!isFields(event)) throw noEvent(line);
  return event;
}

function resourceVersionOf(object: Record<string, unknown>, line: string): string {
  const metadata = object["metadata"];
  const version = isFields(metadata) ? metadata["resourceVersion"] : undefined;
  if (typeof version !== "string") throw noEvent(line);
  return version;
}

function noEvent(line: string, cause?: unknown): TransportError {
  return new TransportError("broken", `not a watch event: ${line.slice(0, 200)}`, cause);
}
