// The body of an answer, or a part of one, while it comes: it never grows beyond what was agreed on.
import { TransportError } from "./errors.ts";

export class Collected {
  readonly #what: string;
  readonly #atMost: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** `what`: for the error, as in `GET https://host/path`. */
  constructor(what: string, atMost: number) {
    this.#what = what;
    this.#atMost = atMost;
  }

  /** Throws instead of taking more than that. */
  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#atMost)
      throw new TransportError("tooLarge", `${this.#what} was answered with more than ${this.#atMost} bytes`);
    this.#chunks.push(chunk);
  }

  get empty(): boolean {
    return this.#chunks.length === 0;
  }

  get body(): Buffer {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
  }

  clear(): void {
    this.#chunks = [];
    this.#bytes = 0;
  }
}
