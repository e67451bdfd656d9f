// The feed, against the in-memory API server: live, shared, and at no cost when nobody watches.
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

/** A listener that waits for the message it expects. */
function listenerOf(feed: Feed, topic: Topic) {
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
  test("pushes a change to its listeners", async () => {
    const stage = await staged();
    const { until, leave } = listenerOf(feedOf(stage), cluster);
    await until(({ t }) => t === "cluster");
    await stage.api.mergePatch(EtcdCluster, key, { spec: { paused: true } });
    const message = await until(
      (one) => one.t === "cluster" && one.view.activity.some((said) => said.startsWith("Paused")),
    );
    assert.equal(message.t, "cluster");
    leave();
  });

  test("reads once for all listeners of a view, and sends a new one what is known", async () => {
    const stage = await staged();
    const feed = feedOf(stage);
    const one = listenerOf(feed, fleet);
    await one.until(({ t }) => t === "fleet");
    const another = listenerOf(feed, fleet);
    assert.equal(another.seen.length, 1);
    assert.equal(feed.active, 1);
    one.leave();
    assert.equal(feed.active, 1);
    another.leave();
    another.leave();
    assert.equal(feed.active, 0);
  });

  test("neither reads nor watches before the first listener, and after the last has left", async () => {
    const stage = await staged();
    stage.api.forgetRequests();
    const feed = feedOf(stage);
    assert.deepEqual(stage.api.requests, []);
    const { until, leave } = listenerOf(feed, cluster);
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
    const all = listenerOf(feed, fleet);
    const message = await all.until(({ t }) => t === "fleet");
    assert.ok(message.t === "fleet");
    assert.equal(message.view.clusters.length, 1);
    assert.match(message.view.notes.join("\n"), /Backups are not shown: you cannot list etcdbackups/);
    const one = listenerOf(feed, cluster);
    const shown = await one.until(({ t }) => t === "cluster");
    assert.ok(shown.t === "cluster");
    for (const lacks of [
      /Members are shown as the status reports them: you cannot list pods/,
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
    const { until, leave } = listenerOf(feedOf(stage), fleet);
    const message = await until(() => true);
    assert.ok(message.t === "problem");
    assert.match(
      message.sentence,
      /^You are ada and cannot list etcdclusters\.etcd\.database\.coreos\.com in the namespace default/,
    );
    leave();
  });

  test("says that a cluster is not there, and shows nothing outside of its namespace", async () => {
    const feed = feedOf(await staged());
    const { until, leave } = listenerOf(feed, { t: "cluster", key: { ...key, name: "none" } });
    const message = await until(() => true);
    assert.match(message.t === "problem" ? message.sentence : "", /There is no EtcdCluster none/);
    leave();
    assert.equal(feed.shows({ t: "cluster", key: { namespace: "kube-system", name: "my-etcd" } }), false);
  });
});
