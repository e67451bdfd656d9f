import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../config.ts";
import { krewManifest } from "./krew-manifest.ts";

const archives = [
  { system: "linux", architectures: ["amd64"], file: "a.tar.gz", sha256: "1".repeat(64) },
  { system: "darwin", architectures: ["amd64", "arm64"], file: "b.tar.gz", sha256: "2".repeat(64) },
] as const;

interface Manifest {
  spec: { version: string; homepage?: string; platforms: { selector: object; uri: string; sha256: string }[] };
}

test("each platform has its archive, macOS one for both architectures, with the version and the name where the release's URI wants them", () => {
  const release = { uri: "https://example.org/{version}/{file}?of={version}", homepage: "https://example.org" };
  const { spec } = krewManifest("1.2.3", release, archives) as Manifest;
  assert.deepEqual([spec.version, spec.homepage], ["v1.2.3", "https://example.org"]);
  assert.deepEqual(
    spec.platforms.map(({ selector, uri, sha256 }) => [selector, uri, sha256]),
    [
      [{ matchLabels: { os: "linux", arch: "amd64" } }, "https://example.org/1.2.3/a.tar.gz?of=1.2.3", "1".repeat(64)],
      [{ matchLabels: { os: "darwin", arch: "amd64" } }, "https://example.org/1.2.3/b.tar.gz?of=1.2.3", "2".repeat(64)],
      [{ matchLabels: { os: "darwin", arch: "arm64" } }, "https://example.org/1.2.3/b.tar.gz?of=1.2.3", "2".repeat(64)],
    ],
  );
});

test("a URI that is the same for every archive is refused", () => {
  assert.throws(() => krewManifest("1.2.3", { uri: "https://example.org/etcd.tar.gz" }, archives), UsageError);
});
