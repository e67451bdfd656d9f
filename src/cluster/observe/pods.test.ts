import assert from "node:assert/strict";
import { firstMembersGate } from "../objects/first-members.ts";
import { test } from "node:test";
import type { Node, Pod } from "../../kube/objects/kinds.ts";
import { Store } from "../../kube/cache/store.ts";
import { leanNode, leanPod, observedPod } from "./pods.ts";
import { withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { guardAnnotations } from "../objects/first-start.ts";
import { changedFromAnnotation, memberPod, restartedAtAnnotation, settingsAnnotation } from "../objects/member-pod.ts";
import { memberName } from "../objects/names.ts";
import { servingGate } from "../objects/tls.ts";
import { endProblem, schedulingProblem, waitingProblem, workerImageProblem } from "./pod-problems.ts";

const at = (second: number): string => new Date(second * 1000).toISOString();

type Container = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];

function pod(status: NonNullable<Pod["status"]>, nodeName?: string): Pod {
  return {
    metadata: { name: "c-a", uid: "1", creationTimestamp: at(1), annotations: { "etcd.version": "3.6.16" } },
    spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
    status,
  };
}

const etcd = (state: Container["state"], more: Partial<Container> = {}): Container[] => [
  { name: "etcd", image: "", imageID: "", ready: false, restartCount: 0, ...(state && { state }), ...more },
];

const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" };
const ended = { exitCode: 1, finishedAt: at(50) };
const cannotRun = { ...ended, reason: "StartError", message: "no such file" };
const noData = {
  ...ended,
  message:
    '{"level":"fatal","msg":"discovery failed","error":"cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs"}',
};
/** In its fourth start, which has not passed the start-up probe; ready never, or until `unreadySince`. */
const runningUnready = (initializedAt: number, unreadySince: number): Pod =>
  pod(
    {
      phase: "Running",
      conditions: [
        { type: "Initialized", status: "True", lastTransitionTime: at(initializedAt) },
        { type: "Ready", status: "False", lastTransitionTime: at(unreadySince) },
      ],
      containerStatuses: etcd({ running: {} }, { started: false, restartCount: 3 }),
    },
    "n",
  );
test("the image of a pod is the one that was asked for, where that is written down, and admission's besides", () => {
  const image = (annotations: Record<string, string>) => {
    const metadata = { name: "demo-a", namespace: "shop", annotations };
    const { image: asked, rewritten } = observedPod(
      { metadata, spec: { containers: [{ name: "etcd", image: "mirror/etcd:1" }] } },
      undefined,
    );
    return [asked, rewritten];
  };
  assert.deepEqual(image({}), ["mirror/etcd:1", undefined]);
  assert.deepEqual(image({ "etcd.database.coreos.com/image": "mirror/etcd:1" }), ["mirror/etcd:1", undefined]);
  assert.deepEqual(image({ "etcd.database.coreos.com/image": "etcd:1" }), ["etcd:1", "mirror/etcd:1"]);
});

test("a pod that was ready once is known by it, and one that never was is not mistaken for it", () => {
  const readyOnce = (pod: Pod): boolean => observedPod(pod, undefined).readyOnce === true;
  assert.equal(readyOnce(runningUnready(20, 50)), true);
  assert.equal(readyOnce(runningUnready(20, 20)), false);
  // The kubelet's first check fell on the turn of a second.
  assert.equal(readyOnce(runningUnready(20, 21)), false);
  assert.equal(readyOnce(pod({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] }, "n")), true);
  assert.equal(readyOnce(pod({ phase: "Pending" })), false);
});

const states: [string, Pod, object][] = [
  ["waits for the scheduler", pod({ phase: "Pending" }), { t: "pending" }],
  [
    "cannot be scheduled",
    pod({ phase: "Pending", conditions: [unschedulable] }),
    { t: "pending", ...schedulingProblem("Unschedulable", "0/3 nodes") },
  ],
  [
    "is being made",
    pod({ containerStatuses: etcd({ waiting: { reason: "ContainerCreating" } }) }, "n"),
    { t: "starting" },
  ],
  [
    "has no image",
    pod({ containerStatuses: etcd({ waiting: { reason: "ErrImagePull", message: "not found" } }) }, "n"),
    { t: "starting", ...waitingProblem({ reason: "ErrImagePull", message: "not found" }) },
  ],
  ...(
    [
      ["waits for its name in DNS", { running: {} }, {}],
      ["has found its name in DNS", { terminated: { exitCode: 0 } }, {}],
      [
        "cannot pull the image that waits for its name",
        { waiting: { reason: "ErrImagePull", message: "not found" } },
        workerImageProblem({ reason: "ErrImagePull", message: "not found" }),
      ],
      [
        "cannot wait for its name",
        { terminated: { exitCode: 1, message: '{"ok":false,"code":"failed","message":"no resolv.conf"}' } },
        { problem: "the container that waits for its name in DNS has failed: no resolv.conf" },
      ],
    ] as const
  ).map(([what, state, trouble]): [string, Pod, object] => {
    const waiting = { name: "await-name", image: "", imageID: "", ready: false, restartCount: 0, state };
    const initializing = etcd({ waiting: { reason: "PodInitializing" } });
    return [
      what,
      pod({ initContainerStatuses: [waiting], containerStatuses: initializing }, "n"),
      { t: "starting", ...trouble },
    ];
  }),
  ["runs and has not passed its start-up probe", runningUnready(20, 20), { t: "running", restarts: 3, unheard: true }],
  ["runs again, and was ready before", runningUnready(20, 50), { t: "running", restarts: 3 }],
  [
    "runs",
    pod({ phase: "Running", containerStatuses: etcd({ running: {} }, { restartCount: 2 }) }, "n"),
    { t: "running", restarts: 2 },
  ],
  [
    "crashes again and again",
    pod(
      {
        conditions: [{ type: "ContainersReady", status: "False", lastTransitionTime: at(20) }],
        containerStatuses: etcd(
          { waiting: { reason: "CrashLoopBackOff" } },
          { restartCount: 4, lastState: { terminated: ended } },
        ),
      },
      "n",
    ),
    { t: "crashing", since: 20_000, exitedAt: 50_000, restarts: 4, wordless: true, ...endProblem(ended) },
  ],
  [
    "has exited just now and was ready until then",
    pod(
      {
        conditions: [{ type: "ContainersReady", status: "True", lastTransitionTime: at(20) }],
        containerStatuses: etcd({ terminated: ended }),
      },
      "n",
    ),
    { t: "crashing", since: 50_000, exitedAt: 50_000, restarts: 0, wordless: true, ...endProblem(ended) },
  ],
  [
    "runs, and since when",
    pod({ containerStatuses: etcd({ running: { startedAt: at(40) } }) }, "n"),
    { t: "running", restarts: 0, since: 40_000 },
  ],
  ["has ended well, which etcd does not", pod({ phase: "Succeeded" }, "n"), { t: "ended", problem: "phase Succeeded" }],
  [
    "is not scheduled yet, for no reason",
    pod({ phase: "Pending", conditions: [{ type: "PodScheduled", status: "True" }] }),
    { t: "pending" },
  ],
  [
    "has a sidecar that runs, and no etcd yet",
    pod({ containerStatuses: etcd({ running: {} }, { name: "sidecar" }) }, "n"),
    { t: "starting" },
  ],
  [
    "ran before and has no image now",
    pod(
      {
        containerStatuses: etcd(
          { waiting: { reason: "ErrImagePull", message: "not found" } },
          { restartCount: 4, lastState: { terminated: ended } },
        ),
      },
      "n",
    ),
    { t: "starting", ...waitingProblem({ reason: "ErrImagePull", message: "not found" }) },
  ],
  ...[
    { waiting: { reason: "CrashLoopBackOff" } },
    { waiting: { reason: "RunContainerError", message: "other words" } },
    { terminated: cannotRun },
  ].map((state): [string, Pod, object] => [
    `has a container that never ran (${Object.keys(state).join()} ${state.waiting?.reason ?? ""})`,
    pod({ containerStatuses: etcd(state, { restartCount: 2, lastState: { terminated: cannotRun } }) }, "n"),
    { t: "starting", ...endProblem(cannotRun) },
  ]),
  [
    "ran before and lacks a Secret now",
    pod(
      {
        containerStatuses: etcd(
          { waiting: { reason: "CreateContainerConfigError", message: 'secret "s" not found' } },
          { restartCount: 1, lastState: { terminated: ended } },
        ),
      },
      "n",
    ),
    { t: "starting", ...waitingProblem({ reason: "CreateContainerConfigError", message: 'secret "s" not found' }) },
  ],
  [
    "ran before and is being made again",
    pod(
      {
        containerStatuses: etcd(
          { waiting: { reason: "ContainerCreating" } },
          { restartCount: 1, lastState: { terminated: ended } },
        ),
      },
      "n",
    ),
    { t: "starting" },
  ],
  [
    "has just exited because it found no data",
    pod({ containerStatuses: etcd({ terminated: noData }) }, "n"),
    { t: "crashing", since: 50_000, exitedAt: 50_000, restarts: 0, withoutData: true, ...endProblem(noData) },
  ],
  [
    "was evicted",
    pod({ phase: "Failed", reason: "Evicted", message: "disk" }, "n"),
    { t: "ended", problem: "Evicted: disk" },
  ],
];
for (const [what, seen, state] of states) {
  test(`a pod that ${what} is seen as such, also through what the cache keeps of it`, () => {
    assert.deepEqual(observedPod(seen, undefined).state, state);
    assert.deepEqual(observedPod(leanPod(seen), undefined), observedPod(seen, undefined));
  });
}

test("a pod is ready when its kubelet says so", () => {
  const ready = (status: string): boolean =>
    observedPod(pod({ phase: "Running", conditions: [{ type: "Ready", status }] }, "n"), undefined).ready;
  assert.deepEqual([ready("True"), ready("False"), observedPod(pod({}), undefined).ready], [true, false, false]);
});

test("a pod that has ended has no address, whatever its status remembers", () => {
  assert.equal(observedPod(pod({ phase: "Failed", podIP: "10.0.0.1" }, "n"), undefined).address, undefined);
  assert.equal(observedPod(pod({ phase: "Running", podIP: "10.0.0.1" }, "n"), undefined).address, "10.0.0.1");
});

test("what a pod was started with is read back, also through what the cache keeps of it", () => {
  const cluster = withDefaults({ metadata: { name: "c", namespace: "ns", uid: "u" }, spec: { size: 3 } });
  const members = ["c-a", "c-b"].map((name) => ({ name, peerUrls: [`http://${name}:2380`] }));
  const resources = { limits: { memory: "1Gi" } };
  const made = memberPod(
    { ...cluster, spec: { ...cluster.spec, pod: { ...cluster.spec.pod, resources } } },
    memberName("c-a"),
    {
      as: "joining",
      members,
    },
  );
  const seen = observedPod(leanPod(made), undefined);
  assert.deepEqual(seen, observedPod(made, undefined));
  assert.deepEqual(
    [seen.joinsWith, seen.guard, seen.image, seen.resources, seen.maxLearners],
    [["http://c-a:2380", "http://c-b:2380"], "open", "quay.io/coreos/etcd:v3.6.16", resources, 8],
  );
  const annotations = { ...made.metadata?.annotations, ...guardAnnotations(cluster, memberName("c-a")) };
  const guarded = { ...made, metadata: { ...made.metadata, annotations } };
  assert.equal(observedPod(leanPod(guarded), undefined).guard, "closed");
});

test("a pod has a volume when its data is on one that outlives it", () => {
  const claim = { persistentVolumeClaim: { claimName: "c" } };
  const hasVolume = (...volumes: NonNullable<Pod["spec"]>["volumes"] & object): boolean => {
    const made: Pod = { ...pod({}), spec: { containers: [], volumes } };
    assert.deepEqual(leanPod(made).spec?.volumes?.length, 1);
    return observedPod(made, undefined).hasVolume && observedPod(leanPod(made), undefined).hasVolume;
  };
  const other = { name: "other", ...claim };
  assert.equal(hasVolume(other, { name: "etcd-data", ...claim }), true);
  assert.equal(hasVolume(other, { name: "etcd-data", emptyDir: {} }), false);
});

test("flags, variables, feature gates and probes are read back, also through what the cache keeps of them", () => {
  const container = {
    name: "etcd",
    command: ["etcd", "--name=c-a", "--pre-vote", "--feature-gates=A=true,B=false,"],
    env: [
      { name: "ETCD_MAX_LEARNERS", value: "5" },
      { name: "GOGC", value: "50" },
    ],
    livenessProbe: { httpGet: { path: "/livez", port: 2381 }, periodSeconds: 5 },
    readinessProbe: { exec: { command: ["/bin/sh", "-ec", "etcdctl"] }, periodSeconds: 5 },
  };
  const made: Pod = { ...pod({}), spec: { containers: [{ name: "sidecar", command: ["--x"] }, container] } };
  assert.deepEqual(leanPod(made).spec?.containers, [
    {
      name: "etcd",
      command: ["--name", "--pre-vote", "--feature-gates=A=true,B=false,"],
      env: [{ name: "ETCD_MAX_LEARNERS", value: "5" }, { name: "GOGC" }],
      livenessProbe: { httpGet: { path: "/livez", port: 2381 } },
      readinessProbe: { exec: { command: ["/bin/sh"] } },
    },
  ]);
  for (const seen of [made, leanPod(made)])
    assert.partialDeepStrictEqual(observedPod(seen, undefined), {
      flags: ["name", "pre-vote", "feature-gates"],
      variables: ["ETCD_MAX_LEARNERS", "GOGC"],
      featureGates: ["A", "B"],
      probes: ["/livez", "/bin/sh"],
      maxLearners: 5,
    });
});

test("what a pod was changed from is read back, unless a person made something else of it", () => {
  const changedFrom = { version: "3.6.15", image: "etcd:v3.6.15", restarts: 2 };
  const seen = (text: string) => {
    const annotations = { [changedFromAnnotation]: text };
    return observedPod({ ...pod({}), metadata: { name: "c-a", annotations } }, undefined).changedFrom;
  };
  assert.deepEqual(seen(JSON.stringify(changedFrom)), changedFrom);
  for (const field of Object.keys(changedFrom))
    assert.equal(seen(JSON.stringify({ ...changedFrom, [field]: null })), undefined);
  assert.equal(seen("3.6.15"), undefined);
  assert.equal(seen("{"), undefined);
  assert.equal("changedFrom" in observedPod(pod({}), undefined), false);
});

test("a pod has been asked to restart, and was made from settings, if its annotations say so", () => {
  const annotations = { [restartedAtAnnotation]: "now", [settingsAnnotation]: "{}" };
  const seen = observedPod({ ...pod({}), metadata: { name: "c-a", annotations } }, undefined);
  assert.deepEqual([seen.restartedAt, seen.madeFrom], ["now", "{}"]);
  const bare = observedPod(pod({}), undefined);
  assert.deepEqual(["restartedAt" in bare, "madeFrom" in bare, bare.version], [false, false, "3.6.16"]);
});

test("the variables that a person gave are read back with their values, and a pod without any has none", () => {
  const cluster = withDefaults({ metadata: { name: "c", namespace: "ns", uid: "u" }, spec: { size: 3 } });
  const etcdEnv = [{ name: "ETCD_DEBUG", value: "true" }];
  const seen = (pod: typeof cluster.spec.pod) => {
    const made = memberPod({ ...cluster, spec: { ...cluster.spec, pod } }, memberName("c-a"), { as: "seed" });
    return observedPod(made, undefined);
  };
  assert.deepEqual(seen({ ...cluster.spec.pod, etcdEnv }).etcdEnv, etcdEnv);
  assert.equal("etcdEnv" in seen(cluster.spec.pod), false);
});

test("a first member of a restored cluster is known before its kubelet says anything of it, also through what the cache keeps", () => {
  const made: Pod = {
    ...pod({}),
    spec: {
      nodeName: "n",
      initContainers: [{ name: "restore", image: "operator", env: [{ name: "A", value: "b" }] }],
      containers: [{ name: "etcd" }],
    },
    status: { phase: "Pending" },
  };
  for (const seen of [made, leanPod(made)])
    assert.deepEqual(observedPod(seen, undefined).state, { t: "starting", restoring: true });
  const held = { type: "PodScheduled", status: "False", reason: "SchedulingGated", message: "held back" };
  const gated: Pod = {
    ...made,
    spec: {
      ...made.spec!,
      schedulingGates: [{ name: "queue.example/admission" }, { name: firstMembersGate }],
      nodeName: "",
    },
    status: { phase: "Pending", conditions: [held] },
  };
  for (const seen of [gated, leanPod(gated)]) {
    const { gated: isGated, state } = observedPod(seen, undefined);
    assert.deepEqual([isGated, state], [true, { t: "pending" }]);
  }
  assert.equal("gated" in observedPod(made, undefined), false);
});

test("a pod waits for the operator to say that it serves, if one of its gates is for that", () => {
  const gateOf = (gates: readonly string[], conditions: readonly string[] = []): string | undefined => {
    const readinessGates = gates.map((conditionType) => ({ conditionType }));
    const seen: Pod = {
      ...pod({ conditions: conditions.map((type) => ({ type, status: "True" })) }),
      spec: { containers: [], readinessGates },
    };
    return observedPod(seen, undefined).servingGate;
  };
  assert.equal(gateOf([]), undefined);
  assert.equal(gateOf(["mesh.example/ready"], [servingGate]), undefined);
  assert.equal(gateOf(["mesh.example/ready", servingGate], ["mesh.example/ready"]), "closed");
  assert.equal(gateOf(["mesh.example/ready", servingGate], [servingGate]), "open");
});

test("a pod has a volume of its own if its data is on a claim", () => {
  const hasVolume = (...volumes: NonNullable<NonNullable<Pod["spec"]>["volumes"]>): boolean =>
    observedPod({ ...pod({}), spec: { containers: [], volumes } }, undefined).hasVolume;
  const persistentVolumeClaim = { claimName: "c-a" };
  assert.equal(hasVolume({ name: "etcd-data", persistentVolumeClaim }), true);
  assert.equal(hasVolume({ name: "backups", persistentVolumeClaim }, { name: "etcd-data", emptyDir: {} }), false);
  assert.equal(hasVolume(), false);
});

test("the container that makes the data is done when it ended well, and in trouble when it did not", () => {
  const stateWith = (state: object, lastState: object = {}): object => {
    const restore = { name: "restore", image: "", imageID: "", ready: false, restartCount: 0, state, lastState };
    const seen: Pod = {
      ...pod({ phase: "Pending", initContainerStatuses: [{ ...restore, name: "mesh" }, restore] }),
      spec: { nodeName: "n", initContainers: [{ name: "mesh" }, { name: "restore" }], containers: [{ name: "etcd" }] },
    };
    return observedPod(seen, undefined).state;
  };
  const failed = { exitCode: 1, message: '{"ok":false,"code":"failed","message":"no such backup"}' };
  assert.deepEqual(stateWith({ terminated: { exitCode: 0 } }), { t: "starting" });
  assert.deepEqual(stateWith({ running: {} }), { t: "starting", restoring: true });
  const pulls = stateWith({ waiting: { reason: "ErrImagePull", message: "not found" } }, { terminated: failed });
  assert.match(JSON.stringify(pulls), /"restoring":true.*ErrImagePull/);
  assert.match(JSON.stringify(stateWith({ terminated: failed })), /"restoring":true.*no such backup/);
  const backsOff = stateWith({ waiting: { reason: "CrashLoopBackOff" } }, { terminated: failed });
  assert.match(JSON.stringify(backsOff), /"restoring":true.*no such backup/);
});

test("a pod goes from the moment that it is deleted", () => {
  const deleted = { ...pod({}), metadata: { name: "c-a", deletionTimestamp: at(9) } };
  assert.deepEqual(
    [observedPod(deleted, undefined).terminating, observedPod(pod({}), undefined).terminating],
    [true, false],
  );
});

test("the cache keeps nothing empty of a pod that has nothing to be read back", () => {
  const env = [{ name: "GOGC", value: "50" }];
  const made: Pod = { metadata: { name: "c-a" }, spec: { containers: [{ name: "etcd", command: ["etcd"], env }] } };
  assert.deepEqual(leanPod(made), {
    ...made,
    spec: { containers: [{ name: "etcd", env: [{ name: "GOGC" }] }], volumes: [] },
    status: {},
  });
  const bare: Pod = { metadata: { name: "c-a" }, spec: { containers: [{ name: "etcd" }] } };
  assert.deepEqual(leanPod(bare).spec?.containers, [{ name: "etcd" }]);
  const others: Pod = { metadata: { name: "c-a" }, spec: { containers: [{ name: "another" }] } };
  assert.deepEqual(leanPod(others).spec?.containers, []);
});

test("a pod of an older operator has all of it in its command line, and cannot be guarded", () => {
  const command = ["etcd", "--initial-cluster=a=http://a:2380,b=http://b:2380", "--max-learners=3"];
  const env = [{ name: "GOGC", value: "50" }];
  const made: Pod = { ...pod({}), spec: { containers: [{ name: "etcd", command, env }] } };
  assert.equal(observedPod(made, undefined).guard, "none");
  const { joinsWith, guard, maxLearners } = observedPod(leanPod(made), undefined);
  assert.deepEqual([joinsWith, guard, maxLearners], [["http://a:2380", "http://b:2380"], "none", 3]);
});

const node = (status: string): Node => ({
  metadata: { name: "n", uid: "9" },
  status: {
    conditions: [
      { type: "MemoryPressure", status: "False" },
      { type: "Ready", status, lastTransitionTime: at(30) },
    ],
  },
});
const nodes: [string, Node | undefined, object][] = [
  ["whose kubelet is well", node("True"), { t: "ready", name: "n" }],
  ["whose kubelet says that it is not well", node("False"), { t: "ready", name: "n" }],
  [
    "that takes no new pods",
    { ...node("True"), spec: { unschedulable: true } },
    { t: "ready", name: "n", cordoned: true },
  ],
  ["whose kubelet says nothing", node("Unknown"), { t: "silent", name: "n", since: 30_000 }],
  ["that is gone", undefined, { t: "gone", name: "n" }],
];
for (const [what, present, seen] of nodes) {
  test(`a node ${what} is ${JSON.stringify(seen)}`, () => {
    const store = new Store<Node>();
    if (present !== undefined) store.put(leanNode(present));
    assert.deepEqual(observedPod(pod({}, "n"), store).node, seen);
    assert.deepEqual(observedPod(pod({}, "n"), undefined).node, { t: "ready", name: "n" });
  });
}
