// The operator itself: it fails at its work, does not run, and runs without leading. Nobody else is managed meanwhile.
import { describe, test } from "node:test";
import { Lease } from "../../../src/kube/objects/kinds.ts";
import { apply, kubectl, kubectlJson } from "../../support/kubectl.ts";
import { kube } from "../support/environment.ts";
import { about, type Stage } from "./stage.ts";

interface Role {
  readonly rules: readonly { readonly resources: readonly string[] }[];
}

export function operatorFaults(the: () => Stage): void {
  describe("an operator", { concurrency: 1 }, () => {
    test("fails at its work without the permission to report on it", async () => {
      const { operator, namespace, plain, proof } = the();
      const where = { ...plain.key, controller: "etcdcluster" };
      await proof.silent(where, "EtcdOperatorErrors");
      const role = await kubectlJson<Role>("get", "role", "etcd-operator", `--namespace=${namespace}`);
      const rules = role.rules.filter(({ resources }) => !resources.includes("etcdclusters/status"));
      await apply({ ...role, rules });
      await plain.edit({ paused: true });
      await proof.fires(where, "EtcdOperatorErrors");
      await operator.grant();
      await plain.edit({ paused: false });
      await plain.untilHealthy();
      await proof.silent(where, "EtcdOperatorErrors");
    });

    test("does not run", async () => {
      const { operator, plain, proof } = the();
      await proof.silent({}, "EtcdOperatorDown", "EtcdClusterUnattended");
      await operator.scale(0);
      await proof.fires({}, "EtcdOperatorDown");
      await proof.fires(about(plain), "EtcdClusterUnattended");
      await operator.scale(1);
      await proof.silent({}, "EtcdOperatorDown");
      await proof.silent(about(plain), "EtcdClusterUnattended");
    });

    test("runs, and does not lead", async () => {
      const { operator, proof } = the();
      const key = { namespace: operator.namespace, name: operator.lease };
      await proof.silent(key, "EtcdOperatorNotLeading");
      await operator.scale(0);
      const hold = (holderIdentity: string): Promise<unknown> =>
        kube.mergePatch(Lease, key, { spec: { holderIdentity, leaseDurationSeconds: 3600 } });
      await hold("somebody-else");
      await operator.scale(1);
      await proof.fires(key, "EtcdOperatorNotLeading");
      await hold("");
      await proof.silent(key, "EtcdOperatorNotLeading");
      await operator.leader();
      await kubectl("get", "lease", operator.lease, `--namespace=${operator.namespace}`);
    });
  });
}
