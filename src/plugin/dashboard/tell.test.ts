// What the page receives: the view of `status`, and beside it places, moments, curves and commands.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Event } from "../../kube/objects/kinds.ts";
import type { Observed } from "../observe/observe.ts";
import { viewOf } from "../view/cluster-view.ts";
import { now, scenes } from "../view/testing/scenes.ts";
import { completed } from "./command-lines.ts";
import { mostSamples, Samples } from "./history.ts";
import { tellOfCluster } from "./tell.ts";
import { timelineOf } from "./timeline.ts";
import { zonesOf } from "./topology.ts";

const scene = (name: string): Observed => scenes[name]!;
const tell = (name: string) => tellOfCluster(scene(name), new Samples(), []);
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

describe("what the page receives about a cluster", () => {
  test("is the view that status prints, in every state", () => {
    for (const [name, observed] of Object.entries(scenes)) assert.deepEqual(tell(name).view, viewOf(observed), name);
  });

  test("is painted as the terminal is", () => {
    const hues = (name: string) => tell(name).hues;
    assert.deepEqual([hues("healthy").ready, hues("healthy").quorum], ["good", "good"]);
    assert.deepEqual([hues("upgrading").ready, hues("quorum-lost").ready], ["warning", "bad"]);
    assert.deepEqual(hues("quorum-lost").members, ["bad", "bad", "bad"]);
    assert.deepEqual(hues("tls").certificates, ["good", "warning", "bad"]);
  });

  test("has what the doctor finds, with commands that work from anywhere", () => {
    const { findings } = tellOfCluster(scene("quorum-lost"), new Samples(), ["--context=lab"]);
    assert.ok(findings.some(({ severity }) => severity === "serious"));
    for (const { command } of findings) assert.match(command, /^kubectl (etcd )?-n default --context=lab /);
  });

  test("holds no Secret: only when certificates expire", () => {
    const text = JSON.stringify(tell("tls"));
    assert.deepEqual(Object.keys(tell("tls").view.certificates[0]!), ["use", "notAfter", "daysLeft"]);
    assert.doesNotMatch(text, /BEGIN|PRIVATE|"data":/);
  });

  test("names what may not be read, and shows the rest", () => {
    const { view, zones, findings } = tell("forbidden");
    assert.ok(view.notes.some((note) => note.includes("you cannot list pods in the namespace default")));
    assert.equal(view.members.length, 3);
    assert.deepEqual(
      zones.map(({ name, nodes }) => [name, nodes.map((place) => place.members.length)]),
      [[undefined, [3]]],
    );
    assert.ok(findings.length > 0);
  });
});

describe("where members are", () => {
  test("is a zone, in it a node, on it the member; zones without one are shown, too", () => {
    const healing = scene("healing");
    const nodes = healing.nodes.t === "found" ? healing.nodes.value : [];
    const extra = { metadata: { name: "node-9", labels: { "topology.kubernetes.io/zone": "zone-d" } } };
    const observed: Observed = { ...healing, nodes: { t: "found", value: [...nodes, extra] } };
    assert.deepEqual(zonesOf(observed, viewOf(observed).members), [
      { name: "zone-a", nodes: [{ name: "node-0", members: ["my-etcd-2b7kq9xw4c"] }], others: 0 },
      { name: "zone-b", nodes: [{ name: "node-1", members: ["my-etcd-8vfm5hj2zd"] }], others: 0 },
      { name: "zone-c", nodes: [{ name: "node-2", members: ["my-etcd-xk4d9b2wqm"] }], others: 0 },
      { name: "zone-d", nodes: [], others: 1 },
    ]);
  });

  test("says what is the matter with a node, and keeps a member that has none", () => {
    const lost = scene("quorum-lost");
    const nodes = [
      { metadata: { name: "node-0" }, status: { conditions: [{ type: "Ready", status: "Unknown" }] } },
      { metadata: { name: "node-1" }, spec: { unschedulable: true } },
    ];
    const observed: Observed = { ...lost, nodes: { t: "found", value: nodes } };
    assert.deepEqual(zonesOf(observed, viewOf(observed).members), [
      {
        nodes: [
          { name: "node-0", trouble: "not ready", members: ["my-etcd-2b7kq9xw4c"] },
          { name: "node-1", trouble: "cordoned", members: ["my-etcd-8vfm5hj2zd"] },
          { members: ["my-etcd-gp6tsn7rbk"] },
        ],
        others: 0,
      },
    ]);
  });
});

describe("what happened", () => {
  const event = (reason: string, minutes: number, more: Partial<Event> = {}): Event => ({
    metadata: { name: reason },
    type: "Normal",
    reason,
    note: `${reason}.`,
    eventTime: minutesAgo(minutes),
    ...more,
  });

  test("is the operator's events and the conditions that changed, the newest first", () => {
    const events = [
      event("Member Removed", 0.5),
      event("Replacing Dead Member", 2, {
        type: "Warning",
        series: { count: 7, lastObservedTime: minutesAgo(0.2) },
      }),
    ];
    const moments = timelineOf({ ...scene("healing"), events: { t: "found", value: events } });
    assert.deepEqual(
      moments.slice(0, 4).map(({ title, hue, count }) => [title, hue, count]),
      [
        ["Replacing Dead Member", "warning", 7],
        ["Member Removed", "dim", undefined],
        ["Recovering", "strong", undefined],
        ["Not ready", "warning", undefined],
      ],
    );
  });

  test("leaves out conditions that say nothing new", () => {
    const { cluster, ...rest } = scene("healthy");
    const valid = {
      type: "CertificatesValid",
      status: "True" as const,
      reason: "Valid",
      lastTransitionTime: minutesAgo(1),
    };
    const conditions = [...(cluster.status?.conditions ?? []), valid];
    const moments = timelineOf({ ...rest, cluster: { ...cluster, status: { ...cluster.status, conditions } } });
    assert.deepEqual(
      new Map(moments.map(({ title, hue }) => [title, hue])),
      new Map([
        ["Available", "good"],
        ["Ready", "good"],
      ]),
    );
  });

  test("says once what several conditions say", () => {
    const titles = timelineOf(scene("quorum-lost")).map(({ title }) => title);
    assert.deepEqual(titles, ["Not available"]);
  });

  test("ends somewhere", () => {
    const events = Array.from({ length: 500 }, (_, at) => event(`Reason ${at}`, at));
    assert.equal(timelineOf({ ...scene("healthy"), events: { t: "found", value: events } }).length, 40);
  });
});

describe("the curves", () => {
  test("have a gap where a figure was not known, and forget what is old and who is gone", () => {
    const samples = new Samples();
    const [first, second] = ["my-etcd-2b7kq9xw4c", "my-etcd-8vfm5hj2zd"];
    const healthy = viewOf(scene("healthy"));
    const silent = viewOf({ ...scene("healthy"), figures: new Map() });
    samples.add(1, healthy);
    samples.add(2, silent);
    samples.add(3, { ...healthy, members: healthy.members.filter(({ name }) => name !== second) });
    const { times, members } = samples.history();
    assert.deepEqual(times, [1, 2, 3]);
    assert.deepEqual(members[first]?.lag, [0, null, 0]);
    assert.equal(members[second], undefined);
    for (let at = 4; at < 1_000; at += 1) samples.add(at, healthy);
    assert.equal(samples.history().times.length, mostSamples);
  });
});

describe("a command to copy", () => {
  test("has the namespace and the flags of the dashboard, in words that a shell leaves alone", () => {
    const flags = ["--kubeconfig=/home/ada/my config", "--context=it's", "--namespace=other"];
    assert.equal(
      completed("kubectl etcd defrag web && kubectl etcd ctl web alarm disarm", "prod", ["--as=ada"]),
      "kubectl etcd -n prod --as=ada defrag web && kubectl etcd -n prod --as=ada ctl web alarm disarm",
    );
    assert.equal(
      completed("kubectl get pods", "prod", flags),
      `kubectl -n prod '--kubeconfig=/home/ada/my config' '--context=it'\\''s' get pods`,
    );
  });

  test("pauses a cluster that goes on, and resumes one that is paused", () => {
    const commands = (name: string) => tell(name).commands.map(({ command }) => command);
    assert.ok(commands("healthy").includes("kubectl etcd -n default pause my-etcd"));
    assert.ok(commands("forbidden").includes("kubectl etcd -n default resume my-etcd"));
  });
});
