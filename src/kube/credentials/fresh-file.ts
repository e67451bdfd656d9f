// A small file that others replace while the program runs (a token, a certificate): always the current content,
// checked only when it is asked for and at most once a second.
import { readFileSync, statSync } from "node:fs";

const requeueAfter = 1000;

export class FreshFile {
  readonly path: string;
  readonly #now: () => number;
  #content: { text: string; version: string; lookedAt: number } | undefined;

  constructor(path: string, now: () => number = () => performance.now()) {
    this.path = path;
    this.#now = now;
  }

  /** Throws when the file cannot be read and never could; later the last good content is better than none. */
  read(): string {
    const known = this.#content;
    const now = this.#now();
    if (known && now - known.lookedAt < requeueAfter) return known.text;
    try {
      const version = versionOf(this.path);
      const text = known?.version === version ? known.text : readFileSync(this.path, "utf8");
      this.#content = { text, version, lookedAt: now };
      return text;
    } catch (error) {
      if (!known) throw error;
      known.lookedAt = now;
      return known.text;
    }
  }

  /** The next read reads the file. */
  forget(): void {
    if (this.#content) this.#content = { ...this.#content, version: "", lookedAt: Number.NEGATIVE_INFINITY };
  }
}

// Projected volumes swap a symbolic link, which changes the inode; an editor changes time and size.
function versionOf(path: string): string {
  const { ino, mtimeMs, size } = statSync(path);
  return `${ino}/${mtimeMs}/${size}`;
}
