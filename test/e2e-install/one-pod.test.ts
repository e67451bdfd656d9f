// The three programs of etcd-operator 0.9 as its own tests ran them: three containers of one pod, without arguments.
import assert from "node:assert/strict";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { loadOperatorImage } from "../../lab/image.ts";
import { operatorImageTag } from "../../lab/images/operator.ts";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
import { Lease, Pod } from "../../src/kube/objects/kinds.ts";
import { ports, programs } from "../../src/programs.ts";
import { kube, lab, patience, restrictedNamespace } from "../e2e/support/environment.ts";
import { root } from "../suites.ts";
import { apply, kubectl } from "../support/kubectl.ts";

describe("the three programs of etcd-operator 0.9 in one pod", { concurrency: 1 }, () => {
  let namespace: string;
  before(async () => {
    namespace = await restrictedNamespace("one-pod");
    await loadOperatorImage(lab);
    await kubectl("create", "serviceaccount", "etcd-operator", `--namespace=${namespace}`);
    await run(path.join(root, "example/rbac/create_role.sh"), [`--namespace=${namespace}`]);
  });
  after(() => kubectl("delete", "clusterrolebinding", `etcd-operator-${namespace}`, "--ignore-not-found"));

  test("all run and are ready, and each serves on a port of its own", async () => {
    await apply(podOf(namespace));
    await kubectl("wait", `--namespace=${namespace}`, "--for=condition=Ready", "pod/etcd-operator", "--timeout=120s");
    const { status } = await kube.get(Pod, { namespace, name: "etcd-operator" });
    for (const program of programs) {
      const container = status?.containerStatuses?.find(({ name }) => name === program);
      assert.ok(container?.state?.running !== undefined, `${program}: ${JSON.stringify(container?.state)}`);
      assert.equal(container.restartCount, 0, program);
      const address = `http://${status?.podIP}:${ports[program]}/healthz`;
      assert.equal((await fetch(address, { signal: AbortSignal.timeout(10_000) })).status, 200, address);
    }
    for (const name of programs) {
      const held = async (): Promise<true | undefined> => {
        const { spec } = await kube.get(Lease, { namespace, name });
        return spec?.holderIdentity?.startsWith("etcd-operator_") === true ? true : undefined;
      };
      await waitFor(`a leader for ${name}`, held, { timeoutMs: patience });
    }
  });
});

/** A container that exits stays as it is, so that no restart hides it. */
const podOf = (namespace: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace, name: "etcd-operator", labels: { name: "etcd-operator" } },
  spec: {
    restartPolicy: "Never",
    serviceAccountName: "etcd-operator",
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
    containers: programs.map((program) => ({
      name: program,
      image: operatorImageTag,
      imagePullPolicy: "IfNotPresent",
      command: [program],
      env: [
        { name: "MY_POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
        { name: "MY_POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ],
      readinessProbe: { httpGet: { path: "/readyz", port: ports[program] }, periodSeconds: 1, timeoutSeconds: 5 },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    })),
  },
});
