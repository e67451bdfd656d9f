import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { quorumOf, viewOf } from "./cluster-view.ts";
import { kept, screenOfScene } from "./testing/golden.ts";
import { scenes } from "./testing/scenes.ts";

describe("a cluster at a glance", () => {
  for (const name of Object.keys(scenes))
    test(`is the kept screen: ${name}`, () => assert.equal(screenOfScene(name), kept(name)));

  test("never is wider than the terminal, where words can be broken", () => {
    for (const name of Object.keys(scenes)) {
      const [narrow = ""] = screenOfScene(name).split("=== 200");
      for (const line of narrow.split("\n")) assert.ok(line.length <= 80, `${name}: ${line}`);
    }
  });

  test("shows the members from the status where pods may not be read, and says so", () => {
    const view = viewOf(scenes["forbidden"]!);
    assert.deepEqual(
      view.members.map(({ role }) => role),
      ["voter", "leader", "voter"],
    );
    assert.ok(view.notes.some((note) => note.includes("you cannot list pods in the namespace default")));
  });

  test("counts a member that takes part for the quorum before its kubelet has noticed, and a learner never", () => {
    const { healing, healthy } = scenes;
    const pods = healthy!.pods.t === "found" ? healthy!.pods.value : [];
    const unready = pods.map((pod) => ({
      ...pod,
      status: { ...pod.status, conditions: [{ type: "Ready", status: "False" }] },
    }));
    const view = viewOf({ ...healthy!, pods: { t: "found", value: unready } });
    assert.deepEqual([view.quorum.healthy, view.members[0]?.health], [3, "not ready"]);
    assert.equal(viewOf(healing!).quorum.healthy, 2);
  });

  test("does not believe the pod of a member that is silent while others answer", () => {
    const { healthy } = scenes;
    const [first = ""] = healthy!.figures.keys();
    const figures = new Map(healthy!.figures).set(first, { t: "silent", why: "no answer" });
    const one = viewOf({ ...healthy!, figures });
    assert.deepEqual([one.members.find(({ name }) => name === first)?.health, one.quorum.healthy], ["silent", 2]);
    const all = new Map([...figures.keys()].map((name) => [name, { t: "silent", why: "no answer" } as const]));
    assert.equal(viewOf({ ...healthy!, figures: all }).quorum.healthy, 3);
  });

  test("counts a member that etcd lists and that has no pod as lost", () => {
    const view = viewOf(scenes["quorum-lost"]!);
    assert.equal(view.members.find(({ name }) => name === "my-etcd-gp6tsn7rbk")?.health, "gone");
    assert.deepEqual([view.quorum.voters, view.quorum.healthy, view.quorum.margin], [3, 0, -2]);
  });
});

describe("the margin of a quorum", () => {
  const rows: readonly (readonly [voters: number, healthy: number, margin: number, says: RegExp])[] = [
    [1, 1, 0, /cannot lose any/],
    [1, 0, -1, /^lost: the only voter does not serve\. Nothing can be written$/],
    [2, 2, 0, /cannot lose any/],
    [3, 3, 1, /can lose 1 more/],
    [3, 2, 0, /cannot lose any/],
    [3, 1, -1, /^lost: fewer than 2 of 3 voters serve\. Nothing can be written$/],
    [4, 4, 1, /can lose 1 more/],
    [5, 5, 2, /can lose 2 more/],
    [0, 0, -1, /no member votes yet/],
  ];
  for (const [voters, healthy, margin, says] of rows)
    test(`of ${healthy} healthy among ${voters} voters is ${margin}`, () => {
      const members = Array.from({ length: voters }, (_, at) => ({
        name: `m${at}`,
        role: "voter" as const,
        healthy: at < healthy,
        health: "",
      }));
      const learner = { name: "l", role: "learner" as const, healthy: true, health: "" };
      const quorum = quorumOf([...members, learner], [], false);
      assert.equal(quorum.margin, margin);
      assert.match(quorum.sentence, says);
    });
});
