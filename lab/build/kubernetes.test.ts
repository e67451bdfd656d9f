import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../config.ts";
import { kubernetesGoMod, kubernetesRecipe } from "./kubernetes.ts";

const upstream = `module k8s.io/kubernetes

go 1.24.0

godebug default=go1.24

require (
	github.com/spf13/cobra v1.9.1
	k8s.io/api v0.0.0
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/kubectl => ./staging/src/k8s.io/kubectl
)
`;

test("every staged library is replaced by its published module", () => {
  assert.equal(
    kubernetesGoMod("1.34.4", upstream),
    `module lab/kubernetes
go 1.24.0
godebug default=go1.24
require k8s.io/kubernetes v1.34.4
replace k8s.io/api => k8s.io/api v0.34.4
replace k8s.io/kubectl => k8s.io/kubectl v0.34.4
`,
  );
});

test("a replace on a line of its own counts too", () => {
  const single = "go 1.30.0\n\nreplace k8s.io/api => ./staging/src/k8s.io/api\n";
  assert.match(kubernetesGoMod("1.40.0", single), /^replace k8s\.io\/api => k8s\.io\/api v0\.40\.0$/m);
});

test("a go.mod without staged libraries is an error, not a build against nothing", () => {
  assert.throws(() => kubernetesGoMod("1.34.4", "module k8s.io/kubernetes\n"), /changed shape/);
});

test("a version that is not a release is refused, with an example", async () => {
  for (const version of ["v1.34.4", "1.34", "latest", "1.34.4-rc.0"])
    await assert.rejects(kubernetesRecipe(version), UsageError);
});
