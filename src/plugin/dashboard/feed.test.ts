// The feed, against the in-memory API server: live, shared, and at no cost when nobody looks.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { Event, Node, Pod } from "../../kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import { staged } from "../testing/sample-cluster.ts";
import type { Stage } from "../testing/stage.ts";
import { now } from "../view/testing/scenes.ts";
import { Feed, type Topic } from "./feed.ts";
import type { Message } from "./messages.ts";

const key = { namespace: "default", name: "my-etcd" };
const cluster: Topic = { t: "cluster", key };
const fleet: Topic = { t: "fleet" };

const feedOf = (stage: Stage): Feed =>
  new Feed({ reach: stage.reach(), namespace: "default", flags: [], now: () => now });

/** Somebody who looks, and waits for what it wants to see. */
function looker(feed: Feed, topic: Topic) {
  const seen: Message[] = [];
  let hear = (): void => undefined;
  const leave = feed.listen(topic, (message) => {
    seen.push(message);
    hear();
  });
  return {
    seen,
    leave,
    until: async (holds: (message: Message) => boolean): Promise<Message> => {
      for (;;) {
        const found = seen.find(holds);
        if (found !== undefined) return found;
        await new Promise<void>((heard) => (hear = heard));
      }
    },
  };
}

function forbid(stage: Stage, kind: Kind<KubeObject>, verb: string, where = 'in the namespace "default"'): void {
  const message = `x is forbidden: User "ada" cannot ${verb} resource "${kind.plural}" in API group "${kind.group}" ${where}`;
  for (const type of ["list", "watch", "get"] as const)
    stage.api.faults.fail({ verb: type, kind }, () => new ApiError(403, "Forbidden", message), {
      times: Number.POSITIVE_INFINITY,
    });
}

describe("the feed", () => {
  test("tells who looks of a change, without being asked", async () => {
    const stage = await staged();
    const { until, leave } = looker(feedOf(stage), cluster);
    await until(({ t }) => t === "cluster");
    await stage.api.mergePatch(EtcdCluster, key, { spec: { paused: true } });
    const message = await until(
      (one) => one.t === "cluster" && one.view.activity.some((said) => said.startsWith("Paused")),
    );
    assert.equal(message.t, "cluster");
    leave();
  });

  test("reads once for all who look at the same, and tells a newcomer what is known", async () => {
    const stage = await staged();
    const feed = feedOf(stage);
    const one = looker(feed, fleet);
    await one.until(({ t }) => t === "fleet");
    const another = looker(feed, fleet);
    assert.equal(another.seen.length, 1);
    assert.equal(feed.active, 1);
    one.leave();
    assert.equal(feed.active, 1);
    another.leave();
    another.leave();
    assert.equal(feed.active, 0);
  });

  test("neither reads nor watches before somebody looks, and after the last has left", async () => {
    const stage = await staged();
    stage.api.forgetRequests();
    const feed = feedOf(stage);
    assert.deepEqual(stage.api.requests, []);
    const { until, leave } = looker(feed, cluster);
    await until(({ t }) => t === "cluster");
    leave();
    assert.equal(feed.active, 0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(stage.api.watching, 0);
  });

  test("shows a user who may read clusters alone the clusters, and says what lacks", async () => {
    const stage = await staged();
    for (const kind of [Pod, EtcdBackup, Event] as const) forbid(stage, kind, "list");
    forbid(stage, Node, "list", "at the cluster scope");
    const feed = feedOf(stage);
    const all = looker(feed, fleet);
    const told = await all.until(({ t }) => t === "fleet");
    assert.ok(told.t === "fleet");
    assert.equal(told.view.clusters.length, 1);
    assert.match(told.view.notes.join("\n"), /Backups are not shown: you may not list etcdbackups/);
    const one = looker(feed, cluster);
    const shown = await one.until(({ t }) => t === "cluster");
    assert.ok(shown.t === "cluster");
    for (const lacks of [
      /Members are shown as the status knows them: you may not list pods/,
      /Zones are not shown/,
      /Events are not/,
    ])
      assert.match(shown.view.notes.join("\n"), lacks);
    assert.equal(shown.view.backups, "unknown");
    all.leave();
    one.leave();
  });

  test("tells a user who may not read clusters so, in a sentence", async () => {
    const stage = await staged();
    forbid(stage, EtcdCluster, "list");
    const { until, leave } = looker(feedOf(stage), fleet);
    const told = await until(() => true);
    assert.ok(told.t === "problem");
    assert.match(
      told.sentence,
      /^You are ada, and may not list etcdclusters\.etcd\.database\.coreos\.com in the namespace default/,
    );
    leave();
  });

  test("says that a cluster is not there, and shows nothing outside of its namespace", async () => {
    const feed = feedOf(await staged());
    const { until, leave } = looker(feed, { t: "cluster", key: { ...key, name: "none" } });
    const told = await until(() => true);
    assert.match(told.t === "problem" ? told.sentence : "", /There is no EtcdCluster none/);
    leave();
    assert.equal(feed.shows({ t: "cluster", key: { namespace: "kube-system", name: "my-etcd" } }), false);
  });
});
