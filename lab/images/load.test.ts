import assert from "node:assert/strict";
import { test } from "node:test";
import { loadedImages } from "./load.ts";

test("only images that carry the lab's label count as loaded", () => {
  const table = `REF                        TYPE      DIGEST     SIZE      PLATFORMS   LABELS
registry.k8s.io/pause:3.10 app/x     sha256:aa  1.2 MiB   linux/amd64 etcd-operator.lab/digest=sha256:11,io.cri-containerd.image=managed
lab.local/probe:1          app/x     sha256:bb  5.0 MiB   linux/amd64 io.cri-containerd.image=managed
lab.local/other:1          app/x     sha256:cc  5.0 MiB   linux/amd64 -
`;
  assert.deepEqual([...loadedImages(table)], [["registry.k8s.io/pause:3.10", "sha256:11"]]);
});
