// A release of the chart on a real Kubernetes, by both majors of Helm: installed, upgraded, uninstalled and installed again,
// while a cluster runs on.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { auditEntries, auditMark, settleAudit } from "../../lab/audit/audit.ts";
import { loadOperatorImage } from "../../lab/image.ts";
import { waitFor } from "../../lab/progress.ts";
import { chart, helms } from "../install/helm.ts";
import { apply, kubectl, kubectlJson, ownNamespace } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";
import { isMatrix } from "../support/matrix.ts";

const lab = testLab();
/** Generous, for a busy machine with two cores. Only a failing test waits this long. */
const patience = { timeout: 600_000 };
const timeout = "--timeout=180s";
const release = "etcd-operator";
const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };
const cluster = (name: string, namespace: string): object => ({
  apiVersion: "etcd.database.coreos.com/v1beta2",
  kind: "EtcdCluster",
  metadata: { name, namespace, annotations: { "etcd.database.coreos.com/scope": "clusterwide" } },
  spec: { size: 1, version: "3.6.16" },
});

interface Pods {
  items: { metadata: { uid: string }; status: { phase: string; containerStatuses: { restartCount: number }[] } }[];
}

const began = auditMark(lab);
before(() => loadOperatorImage(lab));

/** What the chart gives is compared for both of them in test/install. */
const tried = isMatrix ? helms : helms.slice(-1);

for (const helm of tried)
  describe(helm.title, patience, () => {
    let home: string;
    let place: string;
    const isReady = (name: string): Promise<string> =>
      kubectl("wait", `--namespace=${place}`, `etcd/${name}`, "--for=condition=Ready", timeout);
    /** Which pods the first cluster has, and how often they were restarted. */
    const members = async (): Promise<string[]> => {
      const { items } = await kubectlJson<Pods>("get", "pods", `--namespace=${place}`, "--selector=etcd_cluster=first");
      return items.map(
        ({ metadata, status }) =>
          `${metadata.uid} ${status.phase} ${status.containerStatuses.map((one) => one.restartCount).join()}`,
      );
    };
    const withRelease = (...args: string[]): Promise<string> =>
      helm.run(...args.slice(0, 1), release, ...args.slice(1), `--namespace=${home}`, "--wait", timeout);
    let atFirst: string[] = [];

    before(async () => {
      home = await ownNamespace(`${helm.name}-home`, restricted);
      place = await ownNamespace(`${helm.name}-place`, restricted);
      // That of a script in another test: Helm 4 takes over no rules that kubectl wrote and that differ.
      await kubectl("delete", "clusterrole,clusterrolebinding", release, "--ignore-not-found");
    });

    after(async () => {
      await kubectl("delete", "etcd", "--all", `--namespace=${place}`, "--wait=false");
      await helm.run("uninstall", release, `--namespace=${home}`, "--ignore-not-found");
    });

    test("an installed operator makes a cluster, and its notes say the next command", async () => {
      const notes = await withRelease("install", chart, "--take-ownership");
      assert.match(notes, new RegExp(`kubectl rollout status deployment/etcd-operator --namespace ${home}`));
      assert.match(notes, /kind: EtcdCluster/);
      // As the notes have it: without an annotation.
      await apply({ ...cluster("first", place), metadata: { name: "first", namespace: place } });
      await isReady("first");
      atFirst = await members();
      assert.equal(atFirst.length, 1);
    });

    test("an upgrade changes the operator, and no member", async () => {
      await withRelease("upgrade", chart, "--set=replicaCount=2,podAnnotations.note=upgraded");
      // Helm 3 waits for the new pods, and an old one may still be counted.
      await kubectl("rollout", "status", "deployment/etcd-operator", `--namespace=${home}`, timeout);
      const [replicas, note] = (
        await kubectl(
          "get",
          `--namespace=${home}`,
          "deployment/etcd-operator",
          "--output=jsonpath={.status.readyReplicas} {.spec.template.metadata.annotations.note}",
        )
      ).split(" ");
      assert.deepEqual([replicas, note], ["2", "upgraded"]);
      assert.deepEqual(await members(), atFirst);
    });

    test("nonsense is refused by an upgrade, and what runs goes on", async () => {
      const says = await helm.refuses("upgrade", release, chart, `--namespace=${home}`, "--set=replicas=3");
      assert.match(says, /additional properties 'replicas' not allowed/);
      await isReady("first");
    });

    test("people who may edit a namespace may make clusters there, those who view may read", async () => {
      for (const role of ["edit", "view"])
        await kubectl("create", "rolebinding", role, `--namespace=${place}`, `--clusterrole=${role}`, `--user=${role}`);
      const may = (verb: string, who: string): Promise<string> =>
        kubectl("auth", "can-i", verb, "etcdclusters.etcd.database.coreos.com", `--namespace=${place}`, `--as=${who}`)
          .then((answer) => answer.trim())
          .catch(() => "no");
      let seen: string[] = [];
      // The API server notices a new binding a moment later.
      await waitFor(
        "the roles to be in force",
        async () => {
          seen = await Promise.all([
            may("create", "edit"),
            may("list", "edit"),
            may("list", "view"),
            may("create", "view"),
          ]);
          return seen.join() === "yes,yes,yes,no" || undefined;
        },
        { timeoutMs: 60_000, lastSeen: () => seen.join() },
      );
    });

    test("the operator was refused nothing", async () => {
      await settleAudit(lab);
      const user = `system:serviceaccount:${home}:etcd-operator`;
      const own = (await auditEntries(lab, began)).filter((entry) => entry.user === user);
      assert.ok(own.length > 0);
      assert.deepEqual(
        own.filter(({ code }) => code === 403).map(({ verb, resource }) => `${verb} ${resource}`),
        [],
      );
    });

    test("after an uninstall the CRDs are there, and the cluster runs as before", async () => {
      await withRelease("uninstall");
      assert.equal(await kubectl("get", "deployments", `--namespace=${home}`, "--output=name"), "");
      const crds = await kubectl("get", "crd", "--output=name");
      for (const plural of ["etcdclusters", "etcdbackups", "etcdrestores"])
        assert.match(crds, new RegExp(`${plural}\\.etcd\\.database\\.coreos\\.com`));
      assert.deepEqual(await members(), atFirst);
      // Without its permissions it cannot release its Leases: the next one waits until they expire or are deleted.
      const leases = await kubectl("delete", "leases", "--all", `--namespace=${home}`, "--output=name");
      assert.match(leases, /etcd-operator-clusterwide/);
    });

    test("a release that is installed again goes on with the cluster", async () => {
      await withRelease("install", chart);
      await apply(cluster("second", place));
      await isReady("second");
      await isReady("first");
      assert.deepEqual(await members(), atFirst);
    });
  });
