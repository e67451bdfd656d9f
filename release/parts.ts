// The parts of a release, in the order in which they are made. `main.ts` makes them, then sums and signs what they left.
import type { Part } from "./part.ts";

export const parts: readonly Part[] = [];
