// Which version an EtcdCluster asks for that names none: no operator moves a cluster that exists to its own default.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseVersion } from "../../etcd/versions/version.ts";
import { whyBad } from "../../etcd/versions/steps.ts";
import { defaultVersion, inheritedVersion, versionOf } from "./version.ts";

describe("the version of an EtcdCluster that names none", () => {
  it("is a current one where the cluster has yet to begin", () => {
    assert.equal(versionOf({ spec: { size: 3 } }), defaultVersion);
    assert.equal(versionOf({ spec: { size: 3, version: "" }, status: { phase: "Creating" } }), defaultVersion);
  });

  it("is the one that its members run, whatever the default is by now", () => {
    assert.equal(versionOf({ spec: { size: 3 }, status: { currentVersion: "3.4.45" } }), "3.4.45");
    assert.equal(
      versionOf({ spec: { size: 3 }, status: { currentVersion: "3.9.1", targetVersion: "3.6.16" } }),
      "3.9.1",
    );
  });

  it("is that of the pods and volumes where no status tells it", () => {
    assert.equal(versionOf({ spec: { size: 3 } }, ["3.5.35", "3.5.35", "3.6.16"]), "3.5.35");
    assert.equal(versionOf({ spec: { size: 2 } }, ["3.6.16", "3.5.35"]), "3.5.35", "the older of two");
    assert.equal(versionOf({ spec: { size: 1 }, status: { currentVersion: "?" } }, ["", "what"]), defaultVersion);
  });

  it("is that of etcd-operator 0.9 where the manifest is one of its", () => {
    for (const field of ["baseImage", "backup", "restore", "selfHosted"])
      assert.equal(versionOf({ spec: { size: 3, [field]: {} } }), inheritedVersion, field);
    for (const pod of [
      { busyboxImage: "busybox:1.28.0-glibc" },
      { DNSTimeoutInSecond: 30 },
      { automountServiceAccountToken: false },
    ])
      assert.equal(versionOf({ spec: { size: 3, pod } }), inheritedVersion, JSON.stringify(pod));
  });

  it("is not taken from fields that Go clients send for nothing", () => {
    const pod = { busyboxImage: "", DNSTimeoutInSecond: 0, automountServiceAccountToken: null };
    assert.equal(versionOf({ spec: { size: 3, backup: null, pod } }), defaultVersion);
  });

  it("is never asked for where the spec says one", () => {
    const status = { currentVersion: "3.5.35" };
    assert.equal(versionOf({ spec: { size: 3, version: "v3.6.16", baseImage: "x" }, status }, ["3.4.45"]), "3.6.16");
  });

  it("can be read, and is one that clusters may be moved to", () => {
    const parsed = parseVersion(defaultVersion);
    assert.ok(parsed);
    assert.equal(whyBad(parsed), undefined);
  });
});
