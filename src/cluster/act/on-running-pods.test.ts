// What is changed in pods that run, and the proof of an image before it. The API server here holds one pod.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { KvHash } from "../../etcd/member.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../kube/objects/objects.ts";
import { assess } from "../assess/assess.ts";
import { foundVersionAnnotation, imageCheck } from "../objects/image-check.ts";
import { imageAnnotation } from "../objects/claims.ts";
import { formatStartedAgain, startedAgainAnnotation } from "../objects/image-reference.ts";
import { anchorsPeerAnnotation, presentsPeerAnnotation, trustsPeerAnnotation } from "../objects/tls.ts";
import { changedFromAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import type { ClusterAction, ActionOf } from "../plan/actions.ts";
import { learner, three, voter } from "../testing/plan-table.ts";
import {
  sampleCluster,
  type SampleMember,
  sampleName,
  sampleNow,
  sampleWorld,
  type SampleWorld,
} from "../testing/sample-world.ts";
import { carryOut } from "./actions.ts";
import { executionOf } from "./execution.ts";
import { TakenAway } from "./taken-away.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";
import { judged } from "../testing/judged.ts";

interface There {
  readonly pod?: Pod;
  readonly log?: string;
  /** What the API server says instead of doing it. */
  readonly says?: Error;
  /** By the address of the member. */
  readonly hashes?: Record<string, Partial<KvHash>>;
  readonly world?: SampleWorld;
  /** What differs in the pods of the other members from what was seen. */
  readonly others?: Pod["metadata"];
}

/** What is written, or asked of etcd, and how it ends if not well. */
async function doneBy(action: ClusterAction, there: There = {}): Promise<unknown[]> {
  const { pod, log = "", says, hashes = {}, world = { members: three }, others = {} } = there;
  const done: unknown[] = [];
  const write = (...what: unknown[]) =>
    says === undefined ? Promise.resolve(done.push(...what)) : Promise.reject(says);
  const api = {
    get: ({ kind }: Kind<KubeObject>, { name }: Key) => {
      if (kind === EtcdCluster.kind) return Promise.resolve(sampleCluster(world));
      const isOther = name !== member && world.members?.some(({ letter }) => name === `demo-${letter}`) === true;
      return Promise.resolve(isOther ? { metadata: { name, uid: `uid-of-${name}`, ...others } } : pod);
    },
    log: () => Promise.resolve(log),
    create: async (_kind: unknown, made: Pod) => {
      await write("create", made.spec?.nodeName, made.spec?.containers[0]?.image);
      return made;
    },
    delete: (_kind: unknown, { name }: Key, options: object) => write("delete", name, options),
    mergePatch: (_kind: unknown, { name }: Key, patch: object) => write("patch", name, patch),
    replace: async (_kind: unknown, made: Pod) => {
      const images = made.spec?.containers.map(({ image }) => image);
      await write("replace", made.metadata?.annotations, images);
      return made;
    },
  };
  const at = ({ url }: { url: string }) => ({
    hashKv: (revision: number): Promise<Partial<KvHash>> => {
      const { hostname } = new URL(url);
      done.push(`hash of ${hostname} at ${revision}`);
      return Promise.resolve({ hash: 7, compactRevision: 1, ...hashes[hostname] });
    },
  });
  const assessment = assess(sampleWorld(world), sampleNow);
  const context = {
    members: { at },
    logins: { known: () => undefined },
    takenAway: new TakenAway(),
    now: () => sampleNow,
  };
  try {
    await carryOut(action, executionOf(assessment, { api } as never, context as never));
  } catch (error) {
    if (!(error instanceof NotYet || error instanceof Refused)) throw error;
    done.push(error.name);
  }
  return done;
}

const [member, uid, node, image] = [sampleName("a"), "seen", "node-1", "etcd:v3.7.3"];

describe("of a pod that runs", () => {
  test("labels and annotations are changed, if it is still the same pod", async () => {
    const change = { labels: { team: "a", old: null }, annotations: {} };
    assert.deepEqual(await doneBy({ do: "relabelPod", member, uid, change }), [
      "patch",
      member,
      { metadata: { uid, ...change } },
    ]);
  });

  test("the note of what it ran before is removed when it serves", async () => {
    const release = { version: "3.7.3", image };
    assert.deepEqual(await doneBy({ do: "confirmChange", member, uid, from: release, to: release }), [
      "patch",
      member,
      { metadata: { uid, annotations: { [changedFromAnnotation]: null } } },
    ]);
  });
});

describe("the proof of an image", () => {
  const create: ClusterAction = { do: "createImageCheck", node, image };
  const read: ClusterAction = { do: "readImageCheck", name: "demo-check", uid };
  const found = (version: string) => [
    "patch",
    "demo-check",
    { metadata: { uid, annotations: { [foundVersionAnnotation]: version } } },
  ];
  test("is a pod of the image on the node", async () => {
    assert.deepEqual(await doneBy(create), ["create", node, image]);
  });
  test("waits while the last one is still there, and fails for any other reason", async () => {
    const last = imageCheck(sampleWorld({}).cluster, node, image);
    assert.deepEqual(await doneBy(create, { pod: last, says: new ApiError(409, "AlreadyExists", "") }), ["NotYet"]);
    const quota = new ApiError(403, "Forbidden", "");
    await assert.rejects(doneBy(create, { says: quota }), quota);
  });
  test("is the version that its program printed, or none", async () => {
    assert.deepEqual(await doneBy(read, { log: "etcd Version: 3.7.3\nGit SHA: 1" }), found("3.7.3"));
    assert.deepEqual(await doneBy(read, { log: "hello" }), found(""));
  });
  test("is deleted, if it is still the same pod", async () => {
    const name = "demo-check";
    assert.deepEqual(await doneBy({ do: "deleteImageCheck", name, uid }), ["delete", name, { uid }]);
  });
});

describe("an image is changed", () => {
  const from = { version: "3.6.16", image: "etcd:v3.6.16", restarts: 2 };
  const change: ActionOf<"changeImage"> = judged({
    do: "changeImage",
    member,
    uid,
    from,
    to: { version: "3.7.3", image },
    afterComparing: false,
  });
  const first: ClusterAction = { ...change, afterComparing: true };
  const containers = [
    { name: "etcd", image: from.image },
    { name: "sidecar", image: "sidecar:1" },
  ];
  const pod: Pod = { metadata: { name: member, uid, annotations: { team: "a" } }, spec: { containers } };
  const annotations = {
    team: "a",
    [versionAnnotation]: "3.7.3",
    [imageAnnotation]: "etcd:v3.7.3",
    [changedFromAnnotation]: JSON.stringify(from),
  };
  const written = ["replace", annotations, [image, "sidecar:1"]];

  test("in the container of etcd, with a note of what it was", async () => {
    assert.deepEqual(await doneBy(change, { pod }), written);
  });
  test("not in another pod than was looked at", async () => {
    assert.deepEqual(await doneBy(change, { pod: { ...pod, metadata: { name: member, uid: "new" } } }), ["NotYet"]);
  });
  test("not while another member is about to go, whatever the cache shows", async () => {
    const others = { deletionTimestamp: "2026-01-31T12:00:00Z" };
    assert.deepEqual(await doneBy(change, { pod, others }), ["NotYet"]);
  });

  const at = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
    voter(letter, { pod: { address: `${letter}.test` }, ...more });
  const members = [at("a"), at("b"), at("c")];
  const asked = ["a", "b", "c"].map((letter) => `hash of ${letter}.test at 1000`);
  const table: [string, There, unknown[]][] = [
    ["after all voters were found to hold the same data", { world: { members } }, [...asked, ...written]],
    [
      "not while two hold different data",
      { world: { members }, hashes: { "c.test": { hash: 8 } } },
      [...asked, "Refused"],
    ],
    [
      "not before histories are compacted alike",
      { world: { members }, hashes: { "b.test": { hash: 8, compactRevision: 2 } } },
      [...asked, "NotYet"],
    ],
    [
      "not while one cannot be asked",
      { world: { members: [at("a", { pod: { address: undefined } }), at("b"), at("c")] } },
      [...asked.slice(1), "NotYet"],
    ],
    ["without a word to learners", { world: { members: [...members, learner("d")] } }, [...asked, ...written]],
    [
      "at once where one is not healthy",
      { world: { members: [at("a"), at("b"), at("c", { silent: true })] } },
      written,
    ],
    ["at once where etcd has no such hash", { world: { members, version: "3.2.32" } }, written],
  ];
  for (const [what, there, wanted] of table)
    test(`first of all members, ${what}`, async () => assert.deepEqual(await doneBy(first, { pod, ...there }), wanted));
});

describe("a member that is started again", () => {
  const digest = `sha256:${"ab".repeat(32)}`;
  const tls = { trusts: { peer: "t" }, anchors: { peer: "n" }, presents: { peer: "p" } };
  const action: ClusterAction = judged({
    do: "startAgain",
    member: sampleName("a"),
    uid: "u",
    tls,
    because: "it has to read its CA",
  });
  const podWith = (image: string, imageID: string, annotations: Record<string, string> = {}, uid = "u"): Pod => ({
    metadata: { name: "demo-a", uid, annotations },
    spec: {
      containers: [
        { name: "sidecar", image: "other" },
        { name: "etcd", image },
      ],
    },
    status: {
      containerStatuses: [{ name: "etcd", image, imageID, ready: true, restartCount: 2, started: true }],
    },
  });
  const noted = (asked: string, reference: string) => ({
    [trustsPeerAnnotation]: "t",
    [anchorsPeerAnnotation]: "n",
    [presentsPeerAnnotation]: "p",
    [startedAgainAnnotation]: formatStartedAgain({ asked, reference, restarts: 2 }),
  });

  test("gets its image under another name, and what it reads is written on its pod", async () => {
    const pod = podWith("quay.io/etcd:v3.6.16", `quay.io/etcd@${digest}`, { kept: "yes" });
    assert.deepEqual(await doneBy(action, { pod }), [
      "replace",
      { kept: "yes", ...noted("quay.io/etcd:v3.6.16", `quay.io/etcd@${digest}`) },
      ["other", `quay.io/etcd@${digest}`],
    ]);
  });
  test("gets it back under its own name the next time", async () => {
    const annotations = noted("quay.io/etcd:v3.6.16", digest);
    assert.deepEqual(await doneBy(action, { pod: podWith(digest, digest, annotations) }), [
      "replace",
      noted("quay.io/etcd:v3.6.16", "quay.io/etcd:v3.6.16"),
      ["other", "quay.io/etcd:v3.6.16"],
    ]);
  });
  test("is refused where its node does not say which image it runs", async () => {
    assert.deepEqual(await doneBy(action, { pod: podWith("quay.io/etcd:v3.6.16", "") }), ["Refused"]);
  });
  test("is left alone where another pod has its name by now", async () => {
    assert.deepEqual(await doneBy(action, { pod: podWith("i", digest, {}, "another") }), ["NotYet"]);
  });
});
