// TLS on a real Kubernetes: given and made, turned on and off, exchanged while clients write. Each lane has an operator of
// its own.
import { describe } from "node:test";
import { given } from "./given.ts";
import { inherited } from "./inherited.ts";
import { made } from "./made.ts";

// The longest are first, so that they do not run alone at the end.
describe("TLS", { concurrency: 4 }, () => {
  made();
  given();
  inherited();
});
