// The docs and examples work: every marked command is typed from top to bottom, and every example is applied, in a
// namespace that enforces the restricted Pod Security profile.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { typedBlocks, typedPages } from "../../docs/typed.ts";
import { auditEntries, settleAudit } from "../../lab/audit/audit.ts";
import { CommandError, run } from "../../lab/machine/command.ts";
import { loadOperatorImage } from "../../lab/image.ts";
import { bundlePlugin } from "../../lab/images/bundle.ts";
import { root } from "../suites.ts";
import { blockScript, pageScript, typeScript } from "../support/docs.ts";
import { testLab } from "../support/lab.ts";
import { isMatrix } from "../support/matrix.ts";
import { ownPlace, type Place } from "./own-kubeconfig.ts";

/** Generous, for a busy machine with two cores. Only a failing test waits this long. */
const patience = { timeout: 600_000 };
const lab = testLab();
let place: Place;

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-examples-"));
/** With the plugin, and a folder for what the commands write. */
const environment = { PATH: `${folder}:${process.env["PATH"] ?? ""}`, TMPDIR: folder };

/** Runs a line in the root folder and returns both output streams. */
function typed(
  line: string,
  { KUBECONFIG }: Place = place,
  env: Record<string, string> = {},
  timeoutMs = 540_000,
): Promise<string> {
  return typeScript(line, { env: { ...environment, KUBECONFIG, ...env }, timeoutMs });
}

async function fails(line: string, env: Record<string, string> = {}): Promise<CommandError> {
  const settings = { cwd: root, env: { KUBECONFIG: place.KUBECONFIG, ...env } };
  try {
    await run("bash", ["-euo", "pipefail", "-c", line], settings);
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: `should have failed: ${line}` });
}

/** The walk-through removes the operator at its end, so it comes after all that need one. */
const walkThrough = "docs/walk-through.md";
const documents = typedPages.filter(({ by }) => by === "test/e2e/examples.test.ts").map(({ page }) => page);

async function typedFromTopToBottom(document: string, timeoutMs: number): Promise<void> {
  await typed(await pageScript(document), place, {}, timeoutMs);
}

const may = async (verb: string, where: Place, namespace: string): Promise<boolean> =>
  (
    await typed(
      `kubectl auth can-i ${verb} -n ${namespace} --as=system:serviceaccount:${where.namespace}:etcd-operator || true`,
    )
  ).trim() === "yes";

before(async () => {
  await loadOperatorImage(lab);
  await bundlePlugin(path.join(folder, "kubectl-etcd"));
  place = await ownPlace("examples");
});

after(async () => {
  rmSync(folder, { recursive: true, force: true });
  for (const saved of ["/tmp/my-etcd.db", "/tmp/rescued.db"]) rmSync(saved, { force: true });
});

for (const document of documents.filter((page) => page !== walkThrough))
  test(`every marked command of ${document} works when typed from top to bottom`, patience, () =>
    typedFromTopToBottom(document, 540_000),
  );

test("every example manifest is accepted by the API server", patience, async () => {
  const files = readdirSync(path.join(root, "example"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(yaml|json)$/.test(file) && !file.endsWith("-template.yaml"))
    .map((file) => path.join("example", file));
  assert.ok(files.length >= 5, files.join(", "));
  // Elsewhere: the operator that runs here was installed from another manifest, with another selector.
  const elsewhere = await ownPlace("manifests");
  await typed(
    `kubectl apply --dry-run=server --validate=strict ${files.map((file) => `-f ${file}`).join(" ")}`,
    elsewhere,
  );
});

test(
  "the experiment reports a write that is missing, and reads back none of an earlier cluster",
  patience,
  async () => {
    const noted = path.join(path.dirname(place.KUBECONFIG), "acknowledged.txt");
    const env = { ACKNOWLEDGED: noted };
    const smallOne = "sed 's/size: 3/size: 1/' example/example-etcd-cluster.yaml | kubectl apply -f -";
    await typed(smallOne);
    await typed("kubectl wait --for=condition=Ready etcd/example-etcd-cluster --timeout=180s");
    await typed("example/experiment/put.sh 3", place, env);
    assert.match(await typed("example/experiment/get.sh", place, env), /All \d+ acknowledged writes are there/);
    await appendFile(noted, "experiment/never written\n");
    const { exitCode, stderr } = await fails("example/experiment/get.sh", env);
    assert.equal(exitCode, 1);
    assert.match(stderr, /LOST: 1 of \d+ acknowledged writes[^]*experiment\/never written/);
    // Without ACKNOWLEDGED, writes to an earlier cluster of the same name are not read back.
    const unnamed = { TMPDIR: path.dirname(noted) };
    const putAndGet = async (count: number): Promise<void> => {
      const said = await typed(`example/experiment/put.sh ${count}`, place, unnamed);
      const [, acknowledged] = /^(\d+) writes acknowledged/m.exec(said) ?? assert.fail(said);
      const found = await typed("example/experiment/get.sh", place, unnamed);
      assert.match(found, new RegExp(`All ${acknowledged} acknowledged writes are there`), said);
    };
    await putAndGet(3);
    await typed("kubectl delete -f example/example-etcd-cluster.yaml");
    await typed("kubectl wait --for=delete pods -l etcd_cluster=example-etcd-cluster --timeout=120s");
    await typed(smallOne);
    await typed("kubectl wait --for=condition=Ready etcd/example-etcd-cluster --timeout=180s");
    await putAndGet(2);
    await typed("kubectl delete -f example/example-etcd-cluster.yaml");
  },
);

if (isMatrix)
  test("the practice of docs/backups.md works: a backup is restored into a cluster of its own", patience, async () => {
    await typed("sed 's/size: 3/size: 1/' example/example-etcd-cluster-3.6.yaml | kubectl apply -f -");
    await typed("kubectl apply -f example/example-etcd-backup.yaml");
    await typed("kubectl annotate etcdbackup nightly etcd.database.coreos.com/backup-now=practice");
    await typed("kubectl wait --for=condition=Verified etcdbackup/nightly --timeout=240s");
    await typed(await blockScript(typedBlocks.practice));
    await typed("kubectl delete etcdrestore/try-a-restore etcd/my-etcd-copy etcd/my-etcd");
    await typed("kubectl delete -f example/example-etcd-backup.yaml");
  });

test(
  "the walk-through works from top to bottom: install, create, kill, scale, upgrade, back up, destroy, restore, remove",
  { timeout: 900_000 },
  () => typedFromTopToBottom(walkThrough, 840_000),
);

test("create_role.sh takes names from options and the environment, and refuses unknown options", async () => {
  const names = `kubectl get clusterrolebinding role-${place.namespace} -o 'jsonpath={.roleRef.name} {.subjects[*].namespace}'`;
  const role = `role-${place.namespace}`;
  try {
    await typed(`example/rbac/create_role.sh --role-name=${role} --role-binding-name ${role}`);
    assert.equal(await typed(names), `${role} ${place.namespace}`);
    await typed("example/rbac/create_role.sh", place, {
      ROLE_NAME: role,
      ROLE_BINDING_NAME: role,
      NAMESPACE: "kube-public",
    });
    assert.equal(await typed(names), `${role} kube-public`);
  } finally {
    await typed(`kubectl delete clusterrole,clusterrolebinding ${role} --ignore-not-found`);
  }
  await typed(await blockScript(typedBlocks.permissionsInAnother, { a: place.namespace, etcd: "kube-public" }));
  const bound = (name: string): string =>
    `kubectl get rolebinding ${name} -o 'jsonpath={.roleRef.name} {.subjects[*].namespace}'`;
  assert.equal(await typed(bound("etcd-operator-kube-public")), "etcd-operator kube-public");
  assert.equal(await typed(bound("etcd-operator-lease -n kube-public")), "etcd-operator-lease kube-public");
  await typed("kubectl delete role/etcd-operator rolebinding/etcd-operator-kube-public");
  await typed(`kubectl delete role,rolebinding etcd-operator-lease ${role}-lease -n kube-public`);
  assert.match((await fails("example/rbac/create_role.sh --rolename=x")).stderr, /"--rolename" is not an option/);
});

test(
  "an operator with permissions in one namespace runs clusters there and has no permissions elsewhere",
  patience,
  async () => {
    const alone = await ownPlace("alone");
    const commands = await blockScript(typedBlocks.oneNamespace);
    await typed(`${commands}\nkubectl rollout status deployment/etcd-operator --timeout=120s`, alone);
    await typed(
      "sed 's/size: 3/size: 1/' example/example-etcd-cluster-3.6.yaml | kubectl apply -f - " +
        "&& kubectl wait --for=condition=Ready etcd/my-etcd --timeout=120s",
      alone,
    );
    assert.equal(await may("create pods", alone, alone.namespace), true);
    assert.equal(await may("create pods", alone, place.namespace), false);
    assert.equal(await may("list nodes", alone, alone.namespace), false);
  },
);

/** Permissions that the tests above do not use, and when they are needed. */
const usedSeldom: Readonly<Record<string, string>> = {
  "update etcdclusters/finalizers": "an optional admission plugin requires it",
  "update etcdbackups/finalizers": "an optional admission plugin requires it",
  "update etcdrestores/finalizers": "an optional admission plugin requires it",
  "create etcdclusters": "an EtcdRestore makes a new cluster: test/e2e-backup",
  "get etcdbackups": "a write to one got no answer",
  "patch etcdbackups": "spec.deletionPolicy is Delete",
  "watch leases": "a standby watches the leader's Lease",
  "patch events": "an event repeats",
  "update pods/resize": "spec.pod.resources was edited",
  "get services": "a Service of that name exists already",
  "patch services": "one was edited",
  "get poddisruptionbudgets": "one of that name exists already",
  "patch poddisruptionbudgets": "one was edited, or the size changed",
};

/** What an operator of one namespace asks for in case somebody grants it, and does without. */
const doesWithout: ReadonlySet<string> = new Set(["list nodes", "get persistentvolumes"]);

test("the operator is refused only what it does without, and uses every permission that it has", async () => {
  await settleAudit(lab);
  const user = `system:serviceaccount:${place.namespace}:etcd-operator`;
  const entries = (await auditEntries(lab)).filter((entry) => entry.user === user);
  const name = ({ verb, resource, subresource }: (typeof entries)[number]): string =>
    `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}`;
  const refused = new Set(entries.filter(({ code }) => code === 403).map(name));
  assert.deepEqual(
    [...refused].filter((permission) => !doesWithout.has(permission)),
    [],
  );
  const used = new Set(entries.map(name));
  const templates = ["role-template.yaml", "lease-role-template.yaml"];
  const texts = await Promise.all(templates.map((file) => readFile(path.join(root, "example/rbac", file), "utf8")));
  const rules = texts
    .flatMap((text) => parseAllDocuments(text))
    .flatMap((document) => (document.toJS() as { rules?: { resources: string[]; verbs: string[] }[] }).rules ?? []);
  const granted = rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((r) => verbs.map((verb) => `${verb} ${r}`)),
  );
  const needless = granted.filter((permission) => !used.has(permission) && usedSeldom[permission] === undefined);
  assert.deepEqual(needless, []);
});
