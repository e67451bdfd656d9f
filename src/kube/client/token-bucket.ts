// Lets a burst of so many through, and then one more for each period.

export class TokenBucket {
  readonly #capacity: number;
  readonly #periodMs: number;
  #tokens: number;
  #at: number;

  constructor(capacity: number, periodMs: number, now: number) {
    this.#capacity = capacity;
    this.#periodMs = periodMs;
    this.#tokens = capacity;
    this.#at = now;
  }

  take(now: number): boolean {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#at) / this.#periodMs);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
