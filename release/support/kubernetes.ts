// Which versions of Kubernetes are supported, and what was run with each. docs/support.md and the tests of manifests are made
// from it.
import { defaultKubernetes } from "../../lab/config.ts";

/** The oldest whose API server takes the CRDs: rules that read the former object (optionalOldSelf) are on by default since then. */
export const oldestKubernetes = "1.30";

/** All suites of `make test` run on it. */
export const testedKubernetes: readonly string[] = [defaultKubernetes];

/** Manifests, chart and examples are validated against the OpenAPI documents of these: the oldest, the tested, the newest. */
export const validatedKubernetes: readonly string[] = ["1.30.4", defaultKubernetes, "1.37.1"];

export const newestKubernetes = "1.37";
