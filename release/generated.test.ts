import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { generatedFiles } from "./generated.ts";
import { downloads, type Project } from "./project.ts";

const root = path.resolve(import.meta.dirname, "..");

for (const file of generatedFiles())
  test(`${file.path} is up to date (else run: node release/generate.ts)`, () => {
    const current = readFileSync(path.join(root, file.path), "utf8");
    assert.equal(current, file.render(current));
  });

describe("the owner of the repository", () => {
  const owned: Project = {
    name: "etcd-operator",
    provider: "Example",
    repository: "https://github.com/example/etcd-operator",
    maintainers: [{ name: "A Person", handle: "person" }],
    artifactHubId: "00000000-0000-4000-8000-000000000000",
  };
  const rendered = (file: string, of?: Project): string => {
    const found = generatedFiles(of).find((one) => one.path === file)!;
    return found.render(readFileSync(path.join(root, file), "utf8"));
  };

  test("is named in release/project.ts alone, and every file follows", () => {
    assert.match(rendered("MAINTAINERS.md", owned), /^\| A Person \| @person \|$/m);
    assert.match(rendered("artifacthub-repo.yml", owned), /^repositoryID: 0{8}-/m);
    assert.match(rendered("docs/quick-start.md", owned), /^RELEASE=https:\/\/github\.com\/example\/etcd-operator\//m);
  });

  test("is not invented: without one, releases are fetched from a name that never resolves", () => {
    assert.match(
      downloads("1.2.3", { ...owned, repository: undefined } as unknown as Project),
      /^https:\/\/[a-z-]+\.invalid\//,
    );
    assert.doesNotMatch(rendered("MAINTAINERS.md"), /@\w+/);
    assert.doesNotMatch(rendered("artifacthub-repo.yml"), /^repositoryID/m);
  });
});
