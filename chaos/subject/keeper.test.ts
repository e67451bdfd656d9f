// What a kubelet deletes is kept as it last was, and only of pods of the namespace.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { linkInto, podsOn } from "./keeper.ts";

let scratch: string;
before(() => {
  scratch = fs.mkdtempSync(path.join(tmpdir(), "keeper-"));
});
after(() => fs.rmSync(scratch, { recursive: true }));

function put(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

describe("links", () => {
  test("keep a file as it was when it was deleted, written to after it was linked", () => {
    const [from, to] = [path.join(scratch, "from"), path.join(scratch, "to")];
    put(path.join(from, "wal", "0.wal"), "first ");
    linkInto(from, to);
    fs.appendFileSync(path.join(from, "wal", "0.wal"), "later");
    put(path.join(from, "wal", "1.wal"), "second");
    linkInto(from, to);
    fs.rmSync(from, { recursive: true });
    linkInto(from, to);
    const read = (name: string): string => fs.readFileSync(path.join(to, "wal", name), "utf8");
    assert.deepEqual([read("0.wal"), read("1.wal")], ["first later", "second"]);
  });

  test("of what is not there are none", () => {
    linkInto(path.join(scratch, "nothing"), path.join(scratch, "none"));
    assert.ok(!fs.existsSync(path.join(scratch, "none")));
  });
});

test("pods are those of the namespace whose names begin so, on every node", () => {
  const roots = ["n0", "n1"].map((node) => path.join(scratch, node));
  for (const [root = "", folder = ""] of [
    [roots[0], "ns_c-1_u1"],
    [roots[1], "ns_c-2_u2"],
    [roots[1], "ns-other_c-3_u3"],
    [roots[1], "ns_c2-1_u4"],
    [roots[0], "ns_operator_u5"],
  ])
    fs.mkdirSync(path.join(root, "pod-logs", folder), { recursive: true });
  assert.deepEqual(
    podsOn([...roots, path.join(scratch, "no-node")], "ns", ["c", "operator"]).map(({ name, uid }) => [name, uid]),
    [
      ["c-1", "u1"],
      ["operator", "u5"],
      ["c-2", "u2"],
    ],
  );
});
