// Admission webhooks change what an operator asks for. What is asked for is compared, and not what came out: nothing is
// made twice, nothing is restarted for it, and the cluster says Ready.
import assert from "node:assert/strict";
import { test } from "node:test";
import { imageAnnotation } from "./objects/claims.ts";
import { etcdContainer } from "./objects/member-pod.ts";
import { volumesOf } from "./testing/happenings.ts";
import type { PodChange as Webhook } from "./testing/admission.ts";
import { Stage } from "./testing/stage.ts";

const withImage =
  (rewrite: (image: string) => string): Webhook =>
  (pod) => {
    const containers = (pod.spec?.containers ?? []).map((one) => ({ ...one, image: rewrite(one.image ?? "") }));
    return { ...pod, spec: { ...pod.spec, containers } };
  };

/** A mirror in front of all registries; what it has rewritten already stays. */
const mirror = withImage((image) => (image.startsWith("mirror.example/") ? image : `mirror.example/${image}`));

/** What injectors and policies do besides. */
const meddler: Webhook = (pod, verb) => {
  const resources = { requests: { cpu: "200m", memory: "300Mi" }, limits: { memory: "1Gi" } };
  const own = (mirror(pod, verb).spec?.containers ?? []).map((one) =>
    one.name === etcdContainer ? { ...one, resources } : one,
  );
  if (verb === "replace") return { ...pod, spec: { ...pod.spec, containers: own } };
  const containers = [
    { name: "agent", image: "example/agent:1" },
    ...own.map((one) => ({
      ...one,
      env: [...(one.env ?? []), { name: "HTTP_PROXY", value: "http://proxy.example" }],
      securityContext: { ...one.securityContext, runAsNonRoot: true },
    })),
  ];
  const tolerations = [{ key: "injected", operator: "Exists" }];
  const metadata = { ...pod.metadata, labels: { ...pod.metadata?.labels, injected: "yes" } };
  return { ...pod, metadata, spec: { ...pod.spec, containers, tolerations } };
};

const reads: ReadonlySet<string> = new Set(["get", "list", "watch", "log"]);

/** Nothing is asked for any more, however long one waits. */
async function assertAtRest(stage: Stage): Promise<void> {
  stage.api.forgetRequests();
  await stage.pass(300_000);
  assert.deepEqual(
    stage.api.requests
      .filter(({ verb }) => !reads.has(verb))
      .map(({ verb, kind, key }) => `${verb} ${kind} ${key.name}`),
    [],
  );
  const { status, reason } = (await stage.condition("Ready")) ?? {};
  assert.deepEqual([status, reason], ["True", "AllMembersReady"]);
}

for (const [what, webhook] of [
  ["a registry mirror", mirror],
  ["an injector of sidecars, labels, resources, variables and tolerations", meddler],
] as const)
  for (const [where, pod] of [
    ["in pods", {}],
    ["on volumes", volumesOf("1Gi")],
  ] as const)
    test(`a cluster ${where} comes to rest behind ${what}, and goes to another version there`, async () => {
      await using stage = new Stage();
      stage.webhook = webhook;
      stage.startOperator();
      const resources = { requests: { cpu: "100m" } };
      await stage.createWhole(3, "3.6.15", { pod: { ...pod, resources } });
      await assertAtRest(stage);
      const uids = (await stage.pods()).map(({ metadata }) => metadata?.uid);
      stage.api.forgetRequests();
      await stage.edit({ version: "3.6.16" });
      await stage.untilWhole(3);
      const made = stage.api.writes.filter(({ verb, kind }) => verb === "create" && kind === "Pod");
      assert.ok(made.length <= 3, "one try of the image on each node");
      assert.deepEqual(
        (await stage.pods()).map(({ metadata }) => metadata?.uid),
        uids,
        "changed in place",
      );
      await assertAtRest(stage);
    });

test("pods of a release that did not write down what it asked for are not restarted behind a mirror", async () => {
  await using stage = new Stage();
  stage.webhook = (pod, verb) => {
    const { [imageAnnotation]: _, ...annotations } = pod.metadata?.annotations ?? {};
    return mirror(verb === "create" ? { ...pod, metadata: { ...pod.metadata, annotations } } : pod, verb);
  };
  stage.startOperator();
  await stage.create(3, "3.6.16");
  await stage.until("three voters", () => stage.kubelet.etcd?.members.length === 3);
  // From here on the release that does.
  stage.webhook = mirror;
  await stage.untilWhole(3);
  await assertAtRest(stage);
  const restarts = (await stage.pods()).map(({ status }) => status?.containerStatuses?.[0]?.restartCount);
  assert.deepEqual(restarts, [0, 0, 0]);
});

test("an image that a mirror makes the same of is taken over without a restart", async () => {
  await using stage = new Stage();
  stage.webhook = withImage((image) => image.replace(/^.*\/etcd:/, "mirror.example/etcd:"));
  stage.startOperator();
  await stage.createWhole(3, "3.6.16");
  await stage.edit({ repository: "other.example/etcd" });
  await stage.untilWhole(3);
  await assertAtRest(stage);
  const restarts = (await stage.pods()).map(({ status }) => status?.containerStatuses?.[0]?.restartCount);
  assert.deepEqual(restarts, [0, 0, 0]);
});

/** As a policy does that lets pods have only what it knows. */
const stripper =
  (isTaken: (annotation: string) => boolean): Webhook =>
  (pod, verb) => {
    const annotations = Object.entries(pod.metadata?.annotations ?? {}).filter(([name]) => !isTaken(name));
    return mirror({ ...pod, metadata: { ...pod.metadata, annotations: Object.fromEntries(annotations) } }, verb);
  };

const relabeller: Webhook = (pod) => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { ...pod.metadata?.labels, app: "other" } },
});

for (const [what, webhook, named] of [
  ["the image that was asked for", stripper((name) => name === imageAnnotation), imageAnnotation],
  ["the labels of what tries an image", relabeller, "the label app"],
] as const)
  test(`where a webhook takes away ${what}, that is said, and asked for less and less often`, async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.createWhole(3, "3.6.15");
    stage.webhook = webhook;
    stage.api.forgetRequests();
    await stage.edit({ version: "3.6.16" });
    await stage.pass(600_000);
    const { status, reason, message = "" } = (await stage.condition("Ready")) ?? {};
    assert.deepEqual([status, reason], ["False", "Refused"]);
    assert.ok(message.includes(named) && message.includes("Exempt the operator's pods"), message);
    const made = stage.api.writes.filter(({ verb, kind }) => verb === "create" && kind === "Pod");
    assert.ok(made.length <= 12, `${made.length} pods were asked for`);
    stage.webhook = mirror;
    await stage.until(
      "the version that is asked for",
      async () => (await stage.cluster()).status?.updatedMembers === 3,
      900_000,
    );
    await assertAtRest(stage);
  });

test("a first member from which a webhook takes its annotations is not made again and again", async () => {
  await using stage = new Stage();
  stage.webhook = stripper((name) => name.startsWith("etcd"));
  stage.startOperator();
  await stage.create(3, "3.6.16");
  await stage.pass(600_000);
  assert.match((await stage.condition("Ready"))?.message ?? "", /Exempt the operator's pods/);
  const made = stage.api.writes.filter(({ verb, kind }) => verb === "create" && kind === "Pod");
  assert.ok(made.length <= 12, `${made.length} pods were asked for`);
  stage.webhook = (pod) => pod;
  await stage.until("three voters", () => stage.isWhole(3), 900_000);
});
