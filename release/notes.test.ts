import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import { version } from "../src/version.ts";
import { changesOf, notes, withLinks } from "./notes.ts";
import { exampleRelease } from "./testing/release.ts";

const changelog = "# Changelog\n\n## 0.2.0, not released yet\n\n- Two.\n\n## 0.1.1 (2027-01-02)\n\n- One.\n";

describe("release notes", () => {
  test("take the section of their version from the changelog", () => {
    assert.equal(changesOf("0.2.0", changelog), "- Two.");
    assert.equal(changesOf("0.1.1", changelog), "- One.");
  });

  test("of a version that the changelog does not have are refused, with the versions that it has", () => {
    const released = changelog.replace(", not released yet", " (2027-02-03)");
    assert.throws(() => changesOf("0.1", released), /no "## 0\.1".*0\.2\.0 \(2027-02-03\); 0\.1\.1/);
  });

  test("of a candidate have the changes that are not released yet", () => {
    assert.equal(changesOf("0.2.0-rc.1", changelog), "- Two.");
  });

  test("link to the files of their tag, or to nothing where the repository is not known", () => {
    const text = "[a](docs/a.md) [b](https://etcd.io)";
    const linked = withLinks(text, "1.0.0", "https://example.org/o/r");
    assert.equal(linked, "[a](https://example.org/o/r/blob/v1.0.0/docs/a.md) [b](https://etcd.io)");
    assert.equal(withLinks(text, "1.0.0", undefined), "a [b](https://etcd.io)");
  });

  test("of this version name the image by digest, the commit, the permissions and the changes", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "release-notes-"));
    try {
      assert.deepEqual(await notes.make(exampleRelease(folder)), ["RELEASE-NOTES.md"]);
      const text = await readFile(path.join(folder, "RELEASE-NOTES.md"), "utf8");
      const { image, revision } = exampleRelease(folder);
      for (const said of [`# etcd operator ${version}\n`, `@${image.digest}`, revision, "| `pods` |", "- "])
        assert.ok(text.includes(said), said);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
