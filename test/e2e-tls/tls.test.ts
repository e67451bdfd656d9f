// TLS on a real Kubernetes: given and made, turned on and off, replaced while clients write. Each lane has an operator of
// its own.
import * as path from "node:path";
import { before, describe } from "node:test";
import { root } from "../suites.ts";
import { kubectl } from "../support/kubectl.ts";
import { given } from "./given.ts";
import { inherited } from "./inherited.ts";
import { made } from "./made.ts";

const crd = path.join(root, "example/crd/etcdcluster.yaml");

// The longest are first, so that they do not run alone at the end.
describe("TLS", { concurrency: 3 }, () => {
  // Once, and not by operators that start together.
  before(async () => {
    await kubectl("apply", "--server-side", "--force-conflicts", `--filename=${crd}`);
    await kubectl("wait", "--for=condition=Established", `--filename=${crd}`, "--timeout=60s");
  });
  made();
  given();
  inherited();
});
