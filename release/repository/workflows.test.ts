// The files by which GitHub works with this repository. That the workflows are valid is proved in test/install/workflows.test.ts.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { goVersion } from "../programs/go-program.ts";

const root = path.resolve(import.meta.dirname, "../..");
const textOf = (file: string): string => readFileSync(path.join(root, file), "utf8");
const workflows = globSync(".github/workflows/*.yml", { cwd: root });

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[]; readonly "timeout-minutes": number }>>;
}

const jobsOf = (file: string): readonly (readonly Step[])[] =>
  Object.values((parse(textOf(file)) as Workflow).jobs).map(({ steps }) => steps);

test("there are workflows", () => assert.equal(workflows.length, 2));

for (const file of workflows)
  describe(file, () => {
    test("calls make, so that nothing is done only there", () => {
      const other = jobsOf(file)
        .flat()
        .flatMap(({ run }) => (run === undefined ? [] : [run]))
        .filter((run) => !/^(sudo (--preserve-env=[A-Z_,]+ )?((install|chown) -\w .*|make .*)|make .*)$/.test(run));
      assert.deepEqual(other, []);
    });

    test("calls only targets that the Makefile has", () => {
      const targets = new Set([...textOf("Makefile").matchAll(/^([a-z-]+):/gm)].map(([, name]) => name));
      const called = [...textOf(file).matchAll(/run: .*\bmake ([a-z-]+)/g)].map(([, name]) => name);
      assert.ok(called.length > 0);
      assert.deepEqual(
        called.filter((name) => !targets.has(name)),
        [],
      );
    });

    test("uses actions by the hash of a commit, and says of which version", () => {
      const used = [...textOf(file).matchAll(/uses: (.*)$/gm)].map(([, used]) => used);
      assert.ok(used.length > 0);
      for (const one of used) assert.match(one!, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    });

    test("may read, and no more unless a job says so", () => {
      assert.deepEqual((parse(textOf(file)) as Workflow).permissions, { contents: "read" });
    });

    test("ends by itself, and has the Go that programs are built with", () => {
      const { jobs } = parse(textOf(file)) as Workflow;
      for (const job of Object.values(jobs)) {
        assert.ok(job["timeout-minutes"] > 0);
        const go = job.steps.find(({ uses }) => uses?.startsWith("actions/setup-go@"));
        assert.equal(go?.with?.["go-version"], goVersion);
      }
    });
  });

describe("an issue", () => {
  interface Form {
    readonly name: string;
    readonly body: readonly {
      readonly id?: string;
      readonly type: string;
      readonly attributes: Record<string, string>;
    }[];
  }
  const forms = globSync(".github/ISSUE_TEMPLATE/*.yml", { cwd: root }).filter((file) => !file.endsWith("config.yml"));

  test("about a fault asks for what kubectl etcd report says, and points to SECURITY.md", () => {
    const form = parse(textOf(".github/ISSUE_TEMPLATE/bug.yml")) as Form;
    const report = form.body.find(({ id }) => id === "report");
    assert.match(report?.attributes["description"] ?? "", /kubectl etcd report NAME/);
    assert.match(textOf(".github/ISSUE_TEMPLATE/bug.yml"), /SECURITY\.md/);
  });

  for (const file of forms)
    test(`form ${file} has a name, and each field a label`, () => {
      const { name, body } = parse(textOf(file)) as Form;
      assert.ok(name);
      for (const { type, attributes } of body) assert.ok(type === "markdown" || attributes["label"], type);
      const ids = body.flatMap(({ id }) => (id === undefined ? [] : [id]));
      assert.equal(new Set(ids).size, ids.length);
    });
});

test("updates come for every folder with packages, a week after they were published", () => {
  const { updates } = parse(textOf(".github/dependabot.yml")) as {
    updates: { "package-ecosystem": string; directory: string; cooldown?: object }[];
  };
  const npm = updates.filter((one) => one["package-ecosystem"] === "npm");
  const folders = globSync("{.,site}/package-lock.json", { cwd: root }).map((file) =>
    path.join("/", path.dirname(file)),
  );
  assert.deepEqual(npm.map(({ directory }) => directory).toSorted(), folders.toSorted());
  assert.ok(npm.every(({ cooldown }) => cooldown !== undefined));
  assert.ok(updates.some((one) => one["package-ecosystem"] === "github-actions"));
});

test("no address of a person is in the files of the repository", () => {
  for (const file of [
    "SECURITY.md",
    "GOVERNANCE.md",
    "MAINTAINERS.md",
    "artifacthub-repo.yml",
    ...globSync(".github/**/*.{yml,md}", { cwd: root }),
  ])
    assert.doesNotMatch(textOf(file).replaceAll(/uses: \S+/g, ""), /[\w.]+@[\w-]+\.\w+/, file);
});
