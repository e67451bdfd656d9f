// What each command prints and does, against the in-memory API server.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { Lease, PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { leader, members, staged } from "../testing/sample-cluster.ts";
import { Stage } from "../testing/stage.ts";

const key = { namespace: "default", name: "my-etcd" };
const [first] = members;
const cluster = (stage: Stage) => stage.api.get(EtcdCluster, key);
const names = async (stage: Stage) => (await stage.api.list(Pod)).items.map(({ metadata }) => metadata?.name);

describe("status", () => {
  test("of all clusters is a table, and of none says where to look", async () => {
    const stage = await staged("upgrading");
    const { code, out } = await stage.run("status");
    assert.equal(code, 0);
    assert.match(out, /^CLUSTER +MEMBERS +STATUS/);
    assert.match(out, /my-etcd +3\/3 +Updating +3\.6\.16 → 3\.7\.3 .*9h ago/);
    assert.match(out, /^- my-etcd: 1 of 3 members have/m);
    assert.match((await new Stage().run("status")).out, /No EtcdClusters in the namespace default: -A/);
  });

  test("of one shows what members say, and as JSON the same", async () => {
    const stage = await staged();
    assert.match((await stage.run("status", "my-etcd")).out, /my-etcd-8vfm5hj2zd {2}leader {2}healthy .* 40 MiB/);
    const view: unknown = JSON.parse((await stage.run("status", "my-etcd", "-o", "json")).out);
    assert.equal((view as { quorum: { margin: number } }).quorum.margin, 1);
    assert.match((await stage.run("status", "my-etcd", "-o", "yaml")).out, /^quorum:$/m);
  });

  test("without the permission to proxy shows the rest, and says what lacks", async () => {
    const stage = await staged();
    const message =
      'pods "x" is forbidden: User "ada" cannot get resource "pods/proxy" in API group "" in the namespace "default"';
    stage.metrics = () => new ApiError(403, "Forbidden", message);
    const { code, out } = await stage.run("status", "my-etcd");
    assert.equal(code, 0);
    assert.match(
      out,
      /Live figures \(size, lag\) are not shown: you cannot get pods\/proxy in the namespace default\./,
    );
  });

  test("of a cluster that is not there is a sentence, and exits with 1", async () => {
    const { code, err } = await (await staged()).run("status", "my-etc");
    assert.equal(code, 1);
    assert.match(err, /^There is no EtcdCluster my-etc in this namespace/);
  });
});

test("a command line that cannot be used exits with 2", async () => {
  const { code, err } = await new Stage().run("statu");
  assert.equal(code, 2);
  assert.match(err, /Did you mean status\?/);
});

describe("watch", () => {
  test("prints a line for each change where there is no terminal, and ends at a signal", async () => {
    const stage = await staged();
    const original = stage.api.get.bind(stage.api);
    let reads = 0;
    // After the first read the leader moves; after the second it ends.
    stage.api.get = async (kind, at, options) => {
      const got = await original(kind, at, options);
      reads += 1;
      if (reads === 1)
        await stage.api.mergePatch(EtcdCluster, key, { status: { voters: [first] } }, { subresource: "status" });
      if (reads === 2) setImmediate(() => stage.stop());
      return got;
    };
    stage.metrics = () => "";
    const { code, out } = await stage.run("watch", "my-etcd");
    assert.equal(code, 0);
    assert.equal(out.trim().split("\n").length, 2);
    assert.match(out, /^2026-11-17T12:00:00Z my-etcd 3\/3 Ready \[/);
  });
});

describe("pause and resume", () => {
  test("set spec.paused after a yes, and say when there is nothing to do", async () => {
    const stage = await staged();
    const refused = await stage.run("pause", "my-etcd");
    assert.equal(refused.code, 1);
    assert.match(refused.err, /Add --yes: no terminal is there to ask/);
    assert.equal((await cluster(stage)).spec.paused, undefined);
    assert.equal((await stage.run("pause", "my-etcd", "--yes")).code, 0);
    assert.equal((await cluster(stage)).spec.paused, true);
    assert.match((await stage.run("pause", "my-etcd")).out, /is paused already/);
    await stage.run("resume", "my-etcd");
    assert.equal((await cluster(stage)).spec.paused, false);
  });

  test("a no changes nothing", async () => {
    const stage = await staged();
    stage.answer = "no";
    assert.match((await stage.run("pause", "my-etcd")).err, /Nothing was done/);
    assert.equal((await cluster(stage)).spec.paused, undefined);
  });
});

describe("ctl and logs", () => {
  test("run the user's kubectl with what the member was started with", async () => {
    const stage = await staged();
    await stage.run("ctl", "my-etcd", "get", "a", "--prefix");
    assert.deepEqual(stage.calls[0], [
      "exec",
      "--namespace=default",
      leader,
      "--container=etcd",
      "--",
      "etcdctl",
      `--endpoints=http://${leader}.my-etcd.default.svc:2379`,
      "get",
      "a",
      "--prefix",
    ]);
    await stage.run("logs", "my-etcd", "-f", "--since=5m");
    assert.deepEqual(stage.calls[1], [
      "logs",
      "--namespace=default",
      "--selector=app=etcd,etcd_cluster=my-etcd",
      "--prefix",
      "--max-log-requests=20",
      "--container=etcd",
      "--follow",
      "--tail=50",
      "--since=5m",
    ]);
  });

  test("hand standard input on where etcdctl reads it", async () => {
    const stage = await staged();
    await stage.run("ctl", "my-etcd", "put", "greeting");
    await stage.run("ctl", "my-etcd", "get", "greeting");
    assert.deepEqual(
      stage.calls.map((args) => args.includes("--stdin")),
      [true, false],
    );
    assert.ok(!stage.calls.flat().includes("--tty"));
  });

  test("name the members when a wrong one is asked for", async () => {
    const { code, err } = await (await staged()).run("logs", "my-etcd", "my-etcd-2b7kq9xw4d");
    assert.equal(code, 1);
    assert.match(err, /has no member my-etcd-2b7kq9xw4d\. Did you mean my-etcd-2b7kq9xw4c\?/);
  });
});

describe("move-leader", () => {
  test("moves to the named voter, by the id that etcd lists", async () => {
    const stage = await staged();
    const { out } = await stage.run("move-leader", "my-etcd", first);
    assert.match(out, new RegExp(`^${first} now leads my-etcd; ${leader} led before`));
    assert.deepEqual(stage.calls.at(-1)?.slice(-2), ["move-leader", "a0"]);
  });

  test("refuses who leads already, and who is not healthy", async () => {
    assert.match((await (await staged()).run("move-leader", "my-etcd", leader)).err, /leads already/);
    const { err } = await (await staged("quorum-lost")).run("move-leader", "my-etcd");
    assert.match(err, /my-etcd has no leader/);
  });
});

describe("defrag", () => {
  test("takes the followers first and the leader last", async () => {
    const stage = await staged();
    const { code, out } = await stage.run("defrag", "my-etcd", "--yes");
    assert.equal(code, 0);
    assert.deepEqual(
      stage.calls.map((args) => args[2]),
      [members[0], members[2], leader],
    );
    assert.match(out, /defragmented, 40 MiB → 40 MiB/);
  });

  test("stops where a member does not come back", async () => {
    const stage = await staged();
    stage.kubectl = () => {
      const patch = { status: { conditions: [{ type: "Ready", status: "False" }] } };
      void stage.api.mergePatch(Pod, { ...key, name: first }, patch, { subresource: "status" });
      return "";
    };
    const { code, err } = await stage.run("defrag", "my-etcd", "--yes");
    assert.equal(code, 1);
    assert.match(err, new RegExp(`my-etcd has unhealthy members \\(${first}\\)`));
    assert.equal(stage.calls.length, 1);
  });

  test("refuses where a quorum would be missing", async () => {
    const stage = await staged("healing");
    assert.match((await stage.run("defrag", "my-etcd", "--yes")).err, /has unhealthy members/);
    assert.deepEqual(stage.calls, []);
  });
});

describe("replace-member", () => {
  /** The first member has its data in a claim. */
  async function withVolume(stage: Stage): Promise<Stage> {
    const at = { namespace: "default", name: first };
    await stage.add(PersistentVolumeClaim, { metadata: { ...at, labels: { app: "etcd", etcd_cluster: "my-etcd" } } });
    const volumes = [{ name: "etcd-data", persistentVolumeClaim: { claimName: first } }];
    const { resourceVersion: _, uid: __, ...metadata } = (await stage.api.get(Pod, at)).metadata ?? {};
    const { spec, status } = await stage.api.get(Pod, at);
    await stage.api.delete(Pod, at);
    await stage.add(Pod, { metadata, spec: { containers: [], ...spec, volumes }, ...(status && { status }) });
    return stage;
  }

  const left = async (stage: Stage): Promise<readonly [pods: number, claims: number]> => [
    (await stage.api.list(Pod)).items.length,
    (await stage.api.list(PersistentVolumeClaim)).items.length,
  ];

  const notReady =
    (reason: string, message: string) =>
    (one: EtcdCluster): EtcdCluster => {
      const ready = { type: "Ready", status: "False", reason, message, lastTransitionTime: "" } as const;
      return { ...one, status: { ...one.status, conditions: [ready] } };
    };
  const standingStill: readonly (readonly [string, RegExp, (one: EtcdCluster) => EtcdCluster])[] = [
    [
      "is paused",
      /is paused, so nothing would create a new member: run `kubectl etcd resume my-etcd`/,
      (one) => ({ ...one, spec: { ...one.spec, paused: true } }),
    ],
    [
      "has an edit that no operator has reconciled",
      /has not acted on the last edit/,
      (one) => ({ ...one, status: { ...one.status, observedGeneration: 0 } }),
    ],
    [
      "no operator has reconciled",
      /No operator has reconciled my-etcd yet/,
      (one) => ({ ...one, status: { ...one.status, conditions: [] } }),
    ],
    [
      "has a spec that is not valid",
      /is not ready \(InvalidSpec\), so a new member might not join: spec\.size/,
      notReady("InvalidSpec", "spec.size is 0."),
    ],
    [
      "runs on copies of the volumes of another one",
      /is not ready \(VolumesForeign\)/,
      notReady("VolumesForeign", "The pods run on copies."),
    ],
    [
      "has members that certificates keep apart",
      /is not ready \(MembersApart\)/,
      notReady("MembersApart", "They are started again one after another."),
    ],
    [
      "is for an operator of all namespaces, and none runs",
      /Nothing would create a new member\. No operator for all namespaces is running/,
      (one) => ({
        ...one,
        metadata: { ...one.metadata, annotations: { "etcd.database.coreos.com/scope": "clusterwide" } },
      }),
    ],
    [
      "is being restored",
      /The EtcdRestore old replaces the data of my-etcd/,
      (one) => ({ ...one, status: { ...one.status, restore: { name: "old", uid: "u", phase: "Stopping" } } }),
    ],
  ];
  for (const [what, sentence, change] of standingStill)
    test(`refuses on a cluster that ${what}, and takes nothing away`, async () => {
      const stage = await withVolume(await staged("healthy", change));
      const { code, err } = await stage.run("replace-member", "my-etcd", first, "--yes");
      assert.equal(code, 1);
      assert.match(err, sentence);
      assert.deepEqual(await left(stage), [3, 1]);
    });

  test("reads again after the question: a cluster that was paused meanwhile keeps its member", async () => {
    const stage = await withVolume(await staged());
    stage.answer = "yes";
    stage.beforeAnswer = () => stage.api.mergePatch(EtcdCluster, key, { spec: { paused: true } });
    const { code, err } = await stage.run("replace-member", "my-etcd", first);
    assert.equal(code, 1);
    assert.match(
      err,
      /^In the namespace default of the context lab: This deletes .*, .* Continue\?\nmy-etcd is paused/,
    );
    assert.deepEqual(await left(stage), [3, 1]);
  });

  test("goes on where an operator of all namespaces renews its Lease, and not where it stopped to", async () => {
    const annotations = { "etcd.database.coreos.com/scope": "clusterwide" };
    for (const [renewTime, expected] of [
      ["2026-11-17T11:59:50.000000Z", 0],
      ["2026-11-17T11:50:00.000000Z", 1],
    ] as const) {
      const stage = await staged("healthy", (one) => ({ ...one, metadata: { ...one.metadata, annotations } }));
      const spec = { holderIdentity: "a", leaseDurationSeconds: 15, renewTime };
      await stage.add(Lease, { metadata: { namespace: "ops", name: "etcd-operator-clusterwide" }, spec });
      const { code, err } = await stage.run("replace-member", "my-etcd", first, "--yes");
      assert.equal(code, expected, err);
      if (expected === 1) assert.match(err, /The operator in the namespace ops does not renew its Lease/);
    }
  });

  test("deletes the pod, and the claim with it", async () => {
    const stage = await withVolume(await staged());
    assert.equal((await stage.run("replace-member", "my-etcd", first, "--yes")).code, 0);
    assert.deepEqual(new Set(await names(stage)), new Set([members[1], members[2]]));
    assert.deepEqual((await stage.api.list(PersistentVolumeClaim)).items, []);
  });

  test("refuses while another member is not healthy", async () => {
    const stage = await staged("healing");
    const { code, err } = await stage.run("replace-member", "my-etcd", first, "--yes");
    assert.equal(code, 1);
    assert.match(err, /Another member of my-etcd is not healthy/);
    assert.equal((await names(stage)).length, 3);
  });
});

describe("upgrade", () => {
  test("plans without a change, and exits with 1 where something blocks it", async () => {
    const stage = await staged();
    const { code, out } = await stage.run("upgrade", "my-etcd", "--to=3.7.3", "--plan");
    assert.equal(code, 0);
    assert.match(out, /etcd 3\.6\.16 → 3\.7\.3/);
    assert.match(out, /Every member writes a snapshot of its log first/);
    assert.match(out, /Nothing blocks it/);
    const far = await (await staged("healthy")).run("upgrade", "my-etcd", "--to=3.4.45", "--plan");
    assert.equal(far.code, 1);
    assert.match(far.out, /cannot go back to 3\.4/);
    assert.equal((await cluster(stage)).spec.version, "3.6.16");
  });

  test("of a patch plans no snapshot of the log, which the members of 3.7 have read already", async () => {
    const stage = await staged("healthy", (one) => ({ ...one, spec: { ...one.spec, version: "3.7.1" } }));
    stage.metrics = () => 'etcd_server_has_leader 1\netcd_server_version{server_version="3.7.1"} 1\n';
    const { out } = await stage.run("upgrade", "my-etcd", "--to=3.7.3", "--plan");
    assert.match(out, /etcd 3\.7\.1 → 3\.7\.3/);
    assert.doesNotMatch(out, /snapshot of its log/);
  });

  test("sets the version after a yes", async () => {
    const stage = await staged();
    assert.equal((await stage.run("upgrade", "my-etcd", "--to=v3.7.3", "--yes")).code, 0);
    assert.equal((await cluster(stage)).spec.version, "3.7.3");
  });

  test("of several steps asks for --automatic, and sets the path with it", async () => {
    const stage = await staged("healthy", (one) => ({ ...one, spec: { ...one.spec, version: "3.5.35" } }));
    stage.metrics = () => 'etcd_server_has_leader 1\netcd_server_version{server_version="3.5.35"} 1\n';
    const { code, out } = await stage.run("upgrade", "my-etcd", "--to=3.7.3", "--yes");
    assert.equal(code, 1);
    assert.match(out, /1\. 3\.6\.16[\s\S]*2\. 3\.7\.3[\s\S]*add --automatic/);
    assert.equal((await stage.run("upgrade", "my-etcd", "--to=3.7.3", "--automatic", "--yes")).code, 0);
    assert.deepEqual((await cluster(stage)).spec.upgrade, { path: "Automatic" });
  });

  test("says what is wrong with the version that was typed", async () => {
    const stage = await staged();
    assert.equal((await stage.run("upgrade", "my-etcd", "--to=latest")).code, 2);
    assert.equal((await stage.run("upgrade", "my-etcd")).code, 2);
  });
});

describe("backup", () => {
  test("asks the EtcdBackup that is there", async () => {
    const stage = await staged();
    assert.equal((await stage.run("backup", "my-etcd")).code, 0);
    const backup = await stage.api.get(EtcdBackup, { ...key, name: "nightly" });
    const asked = backup.metadata?.annotations?.["etcd.database.coreos.com/backup-now"];
    assert.equal(asked, "2026-11-17T12:00:00Z");
  });

  test("makes a new one from flags", async () => {
    const stage = await staged();
    const flags = ["--to=s3://bucket/a/b", "--secret=aws", "--schedule=0 3 * * *", "--keep=7", "--verify"];
    assert.equal((await stage.run("backup", "my-etcd", ...flags)).code, 0);
    const { spec } = await stage.api.get(EtcdBackup, key);
    assert.deepEqual(spec, {
      clusterRef: { name: "my-etcd" },
      storageType: "S3",
      s3: { path: "bucket/a/b", awsSecret: "aws" },
      backupPolicy: { schedule: "0 3 * * *", maxBackups: 7 },
      verify: { restore: true },
    });
    await stage.run("backup", "my-etcd", "--to=pvc://claim/a/b", "--backup=once");
    const once = await stage.api.get(EtcdBackup, { ...key, name: "once" });
    assert.deepEqual(once.spec.pvc, { claimName: "claim", path: "a/b" });
  });

  test("says what is missing, and which to choose", async () => {
    const stage = await staged("quorum-lost");
    assert.match((await stage.run("backup", "my-etcd")).err, /my-etcd has no EtcdBackup: name a destination with --to/);
    assert.match((await stage.run("backup", "my-etcd", "--to=ftp://x/y")).err, /--to is s3:\/\/BUCKET\/KEY/);
    assert.match((await stage.run("backup", "my-etcd", "--keep=3")).err, /--keep needs --to/);
  });
});

describe("restore", () => {
  test("makes an EtcdRestore of the name of the cluster, in the place of one that is over", async () => {
    const stage = await staged();
    const old = { metadata: { ...key }, spec: { etcdCluster: { name: "my-etcd" } } };
    await stage.add(EtcdRestore, { ...old, status: { phase: "Succeeded" } });
    const { code } = await stage.run("restore", "my-etcd", "--from=nightly", "--before=2026-01-31T12:00:00Z", "--yes");
    assert.equal(code, 0);
    assert.deepEqual((await stage.api.get(EtcdRestore, key)).spec, {
      etcdCluster: { name: "my-etcd" },
      backup: { name: "nightly" },
      before: "2026-01-31T12:00:00Z",
    });
    const again = await stage.run("restore", "my-etcd", "--from=nightly", "--yes");
    assert.match(again.err, /The EtcdRestore my-etcd is in progress/);
  });

  test("into a new cluster takes the spec of the old one, and asks nobody", async () => {
    const stage = await staged();
    assert.equal((await stage.run("restore", "my-etcd", "--from=nightly", "--into=copy")).code, 0);
    const { spec } = await stage.api.get(EtcdRestore, { ...key, name: "copy" });
    assert.deepEqual([spec.etcdCluster.name, spec.clusterSpec?.size], ["copy", 3]);
  });

  test("of a backup that is not there is a sentence", async () => {
    const { err } = await (await staged()).run("restore", "my-etcd", "--from=nigthly", "--yes");
    assert.match(err, /There is no etcdbackup nigthly/);
  });
});

test("report collects files without secrets, in an archive or a folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "report-"));
  try {
    const stage = await staged("healthy", (one) => ({
      ...one,
      spec: { ...one.spec, pod: { etcdEnv: [{ name: "ETCD_X", value: "hush" }] } },
    }));
    assert.equal((await stage.run("report", "my-etcd", `--file=${join(folder, "r")}`)).code, 0);
    const files = readdirSync(join(folder, "r"), { recursive: true, encoding: "utf8" });
    for (const file of ["cluster.yaml", "status.txt", "doctor.txt", `members/${first}.log`, `members/${first}.metrics`])
      assert.ok(files.includes(file), file);
    const text = readFileSync(join(folder, "r", "cluster.yaml"), "utf8");
    assert.match(text, /name: ETCD_X\n +value: \(removed\)/);
    assert.doesNotMatch(text, /hush/);
    assert.equal((await stage.run("report", "my-etcd", `--file=${join(folder, "r.tar.gz")}`)).code, 0);
    assert.match((await stage.run("report", "my-etcd", `--file=${join(folder, "r.tar.gz")}`)).err, /cannot be written/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("completion", () => {
  const lines = async (...words: string[]) =>
    (await (await staged()).run("__complete", ...words)).out.trim().split("\n");

  test("offers commands, flags, values, clusters and members", async () => {
    assert.deepEqual(await lines("sta"), ["status\tShow all clusters, or one at a glance.", ":4"]);
    assert.deepEqual(await lines("status", "--all"), [
      "--all-namespaces\tWithout a name: the clusters of all namespaces.",
      ":4",
    ]);
    assert.deepEqual(await lines("status", "-o", "y"), ["yaml", ":4"]);
    assert.deepEqual(await lines("status", "--output=j"), ["--output=json", ":4"]);
    assert.deepEqual(await lines("status", "-n", "default", "my"), ["my-etcd", ":4"]);
    assert.deepEqual(await lines("replace-member", "my-etcd", "my-etcd-2"), [first, ":4"]);
    assert.deepEqual(await lines("version", ""), [":4"]);
  });
});
