// What stands around the members is refused: by a quota, by somebody else's object of that name, by a policy. That is
// told, and members that are lost meanwhile are replaced all the same.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { Service } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { apply, kubectl } from "../../support/kubectl.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube, patience } from "../support/ground.ts";
import { deletePods } from "../support/harm.ts";
import { type Lane, lane } from "../support/lane.ts";
import { conditionOf } from "../support/status.ts";
import { othersStay } from "../support/stay.ts";
import { followers, type WholeMember } from "../support/whole.ts";

const policy = "no-label-app";

export function refusedServices(): void {
  describe("refused Services", { concurrency: 1 }, () => {
    const on = lane("refused", { size: 3 });
    const clientService = ({ key }: TestCluster): Key => ({ ...key, name: `${key.name}-client` });

    test("a quota that refuses the client Service keeps no member from being replaced", async () => {
      const { cluster } = on();
      await untilQuota(cluster, "one-service", "services=1");
      try {
        await kube.delete(Service, clientService(cluster));
        await isRefusedAndHealed(on(), ["refused-client", "exceeded quota: one-service"]);
      } finally {
        await kubectl("delete", "quota", "one-service", `--namespace=${cluster.namespace}`);
      }
      await cluster.whole();
      await kube.get(Service, clientService(cluster));
    });

    test("somebody else's Service in place of the client Service keeps no member from being replaced", async () => {
      const { cluster } = on();
      const [key, inNamespace] = [clientService(cluster), `--namespace=${cluster.namespace}`];
      await cluster.whole();
      // While it is paused nobody makes the deleted one again before the other is there.
      await cluster.edit({ paused: true });
      await cluster.until("it is paused", ({ status }) => status?.controlPaused === true);
      await kube.delete(Service, key);
      await kubectl("create", "service", "clusterip", key.name, "--tcp=80", inNamespace);
      const { metadata } = await kube.get(Service, key);
      await cluster.edit({ paused: false });
      try {
        await isRefusedAndHealed(on(), [`a Service named ${key.name} exists and is not the cluster's: delete it`]);
        const { metadata: later } = await kube.get(Service, key);
        assert.equal(later?.resourceVersion, metadata?.resourceVersion, "it is left as it is");
      } finally {
        await kubectl("delete", "service", key.name, inNamespace);
      }
      await cluster.whole();
      assert.equal((await kube.get(Service, key)).metadata?.ownerReferences?.[0]?.name, cluster.name);
    });

    test("a policy that refuses a pod its labels keeps no other member from being replaced", async () => {
      const { cluster } = on();
      const [unlabelled] = followers(await cluster.whole());
      assert.ok(unlabelled);
      await apply(...noLabelApp(cluster.namespace));
      try {
        const label = (...args: string[]): Promise<string> =>
          kubectl("label", "pod", `--namespace=${cluster.namespace}`, unlabelled.name, "--overwrite", ...args);
        await untilPolicy(label);
        await isRefusedAndHealed(on(), [unlabelled.name, policy], unlabelled);
      } finally {
        await kubectl("delete", `validatingadmissionpolicybinding/${policy}`, `validatingadmissionpolicy/${policy}`);
      }
      await cluster.whole();
      assert.equal((await cluster.pod(unlabelled.name))?.metadata?.labels?.["app"], "etcd");
    });
  });
}

/** Told in the words of who refuses it; and a follower is lost and replaced meanwhile. */
async function isRefusedAndHealed(
  { cluster, writer }: Lane,
  says: readonly string[],
  spared?: WholeMember,
): Promise<void> {
  const isTold = (): Promise<unknown> =>
    cluster.until(`it is told that it is refused: ${says.join(", ")}`, (seen) => {
      const ready = conditionOf(seen, "Ready");
      const isSaid = says.every((words) => ready?.message?.includes(words));
      return ready?.status === "False" && ready.reason === "Refused" && isSaid;
    });
  await isTold();
  await cluster.untilEvent("Refused", ({ note }) => says.every((words) => note?.includes(words)));
  const before = await cluster.membersWhole();
  const victim = followers(before).find(({ id }) => id !== spared?.id);
  assert.ok(victim);
  await deletePods(cluster, victim.name);
  othersStay(before, await cluster.membersWhole({ without: [victim.name] }), victim.name);
  await isTold();
  await writer.nothingIsLost();
}

/** Until it is in force: it counts what is there first. */
async function untilQuota({ namespace }: TestCluster, name: string, hard: string): Promise<void> {
  const inNamespace = `--namespace=${namespace}`;
  await kubectl("create", "quota", name, `--hard=${hard}`, inNamespace);
  const used = (): Promise<string> => kubectl("get", "quota", name, inNamespace, "--output=jsonpath={.status.used}");
  await waitFor("the quota to be in force", async () => (await used()) || undefined, { timeoutMs: patience });
}

/** Takes the label `app` away until it cannot be given back. */
async function untilPolicy(label: (...args: string[]) => Promise<string>): Promise<void> {
  await waitFor(
    "the policy to be in force",
    async () => {
      await label("app-");
      const given = label("app=etcd", "--dry-run=server").then(
        () => undefined,
        (error: unknown) => String(error),
      );
      return (await given)?.includes(policy) || undefined;
    },
    { timeoutMs: patience, everyMs: 250 },
  );
}

/** A pod that has no label `app` gets none. */
function noLabelApp(namespace: string): object[] {
  const apiVersion = "admissionregistration.k8s.io/v1";
  return [
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: policy },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["pods"] }],
        },
        validations: [
          {
            expression:
              "'app' in oldObject.metadata.?labels.orValue({}) || !('app' in object.metadata.?labels.orValue({}))",
            message: "pods of this namespace get no label app",
          },
        ],
      },
    },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: policy },
      spec: { policyName: policy, validationActions: ["Deny"] },
    },
  ];
}
