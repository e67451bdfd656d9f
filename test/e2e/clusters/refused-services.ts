// Kubernetes refuses a Service or a label: by a quota, by a foreign Service of that name, by an admission policy. It is
// reported, and lost members are replaced all the same.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import { Service } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { apply, kubectl } from "../../support/kubectl.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube, patience } from "../support/environment.ts";
import { deletePods } from "../support/disruptions.ts";
import { type Lane, lane } from "../support/lane.ts";
import { untilQuota } from "../support/quota.ts";
import { conditionOf } from "../support/status.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { followers, type HealthyMember } from "../support/healthy.ts";
import { matrixTest } from "../../support/matrix.ts";

const policy = "no-label-app";

export function refusedServices(): void {
  describe("refused Services", { concurrency: 1 }, () => {
    // The newest version, which no other cluster of these begins with.
    const on = lane("refused", { size: 3, version: "3.7.3" });
    const clientService = ({ key }: TestCluster): Key => ({ ...key, name: `${key.name}-client` });

    // The simulated histories refuse Services, too.
    matrixTest("a lost member is replaced while a quota refuses the client Service", async () => {
      const { cluster } = on();
      await untilQuota(cluster.namespace, "one-service", "services=1");
      try {
        await kube.delete(Service, clientService(cluster));
        await isRefusedAndHealed(on(), ["refused-client", "exceeded quota: one-service"]);
      } finally {
        await kubectl("delete", "quota", "one-service", `--namespace=${cluster.namespace}`);
      }
      await cluster.untilHealthy();
      await kube.get(Service, clientService(cluster));
    });

    matrixTest("a lost member is replaced while a foreign Service has the name of the client Service", async () => {
      const { cluster } = on();
      const [key, inNamespace] = [clientService(cluster), `--namespace=${cluster.namespace}`];
      await cluster.untilHealthy();
      // Paused, so that the operator does not recreate it first.
      await cluster.edit({ paused: true });
      await cluster.until("it is paused", ({ status }) => status?.controlPaused === true);
      await kube.delete(Service, key);
      await kubectl("create", "service", "clusterip", key.name, "--tcp=80", inNamespace);
      const { metadata } = await kube.get(Service, key);
      await cluster.edit({ paused: false });
      try {
        await isRefusedAndHealed(on(), [`a Service named ${key.name} exists and is not the cluster's: delete it`]);
        const { metadata: later } = await kube.get(Service, key);
        assert.equal(later?.resourceVersion, metadata?.resourceVersion, "the foreign Service is unchanged");
      } finally {
        await kubectl("delete", "service", key.name, inNamespace);
      }
      await cluster.untilHealthy();
      assert.equal((await kube.get(Service, key)).metadata?.ownerReferences?.[0]?.name, cluster.name);
    });

    test("a lost member is replaced while a policy refuses another pod its labels", async () => {
      const { cluster } = on();
      const [unlabelled] = followers(await cluster.untilHealthy());
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
      await cluster.untilHealthy();
      assert.equal((await cluster.pod(unlabelled.name))?.metadata?.labels?.["app"], "etcd");
    });
  });
}

/** Ready and an event say what is refused, and a follower that is lost meanwhile is replaced. */
async function isRefusedAndHealed(
  { cluster, writer }: Lane,
  says: readonly string[],
  spared?: HealthyMember,
): Promise<void> {
  const isReported = (): Promise<unknown> =>
    cluster.until(`Ready is Refused: ${says.join(", ")}`, (seen) => {
      const ready = conditionOf(seen, "Ready");
      const isSaid = says.every((words) => ready?.message?.includes(words));
      return ready?.status === "False" && ready.reason === "Refused" && isSaid;
    });
  await isReported();
  await cluster.untilEvent("Refused", ({ note }) => says.every((words) => note?.includes(words)));
  const before = await cluster.untilMembersHealthy();
  const victim = followers(before).find(({ id }) => id !== spared?.id);
  assert.ok(victim);
  await deletePods(cluster, victim.name);
  onlyReplaced(before, await cluster.untilMembersHealthy({ without: [victim.name] }), victim.name);
  await isReported();
  await writer.nothingIsLost();
}

/** Removes the label `app` until the policy refuses to restore it. */
async function untilPolicy(label: (...args: string[]) => Promise<string>): Promise<void> {
  await waitFor(
    "the policy to be enforced",
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

/** Refuses to add the label `app` to an existing pod. */
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
            message: "the label app may not be added",
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
