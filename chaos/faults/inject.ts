// How each fault is done. Whatever lasts is undone by `heal` of the lab, which knows all that is in force.
import { labNodes } from "../../lab/config.ts";
import { killContainer, pauseContainer } from "../../lab/faults/containers.ts";
import { freezeApi, freezeDns, stopDns } from "../../lab/faults/control-plane.ts";
import { delay } from "../../lab/faults/delay.ts";
import { fillDisk } from "../../lab/faults/disk.ts";
import { restartApi } from "../../lab/faults/main.ts";
import { cutNode, cutPods, loss } from "../../lab/faults/network.ts";
import { powerOff } from "../../lab/faults/power.ts";
import { slowDisk } from "../../lab/faults/throttle.ts";
import { waitFor } from "../../lab/progress.ts";
import { Pod } from "../../src/kube/objects/kinds.ts";
import { operatorName, operatorPod } from "../ground.ts";
import type { Scene } from "../scene.ts";
import type { FaultName } from "./list.ts";

/** Returns whom it hit. */
type Inject = (scene: Scene) => Promise<string>;

const delayMs = 100;
const lossPercent = 20;
const slowIops = 20;
const replacedWithinMs = 60_000;

export const inject: Readonly<Record<FaultName, Inject>> = {
  none: async () => "nobody",
  "kill-follower": async (scene) => kill(scene, await follower(scene)),
  "kill-leader": async (scene) => kill(scene, await leader(scene)),
  "kill-two": async (scene) => {
    const { leader, followers } = await scene.subject.roles();
    return [await kill(scene, followers[0] ?? leader), await kill(scene, leader)].join(", ");
  },
  "pause-follower": async (scene) => pause(scene, await follower(scene)),
  "pause-leader": async (scene) => pause(scene, await leader(scene)),
  "delete-follower": async (scene) => deletePod(scene, await follower(scene)),
  "delete-leader": async (scene) => deletePod(scene, await leader(scene)),
  "delete-two": deleteTwo,
  "kill-operator": async ({ ground }) => {
    const name = await operatorPod(ground);
    await killContainer(ground.lab, `${ground.namespace}/${name}`, operatorName);
    return name;
  },
  "pause-operator": async ({ ground }) => {
    const name = await operatorPod(ground);
    await pauseContainer(ground.lab, `${ground.namespace}/${name}`, operatorName);
    return name;
  },
  "delete-operator": async ({ ground }) => {
    const name = await operatorPod(ground);
    await ground.api.delete(Pod, { namespace: ground.namespace, name }, { gracePeriodSeconds: 0 });
    return name;
  },
  "node-off": async (scene) => onNodeOf(scene, (node) => powerOff(scene.ground.lab, node)),
  "all-nodes-off": async ({ ground: { lab } }) => {
    const names = labNodes(lab).map(({ name }) => name);
    await Promise.all(names.map((name) => powerOff(lab, name)));
    return names.join(", ");
  },
  "cut-node": async (scene) => onNodeOf(scene, (node) => cutNode(scene.ground.lab, node)),
  partition: async (scene) => cutOff(scene, "both"),
  "one-way": async (scene) => cutOff(scene, "one-way"),
  delay: async (scene) => onNodeOf(scene, (node) => delay(scene.ground.lab, { node }, delayMs)),
  loss: async (scene) => onNodeOf(scene, (node) => loss(scene.ground.lab, { node }, lossPercent)),
  "full-disk": async (scene) => {
    const name = await follower(scene);
    await fillDisk(scene.ground.lab, podOf(scene, name));
    return name;
  },
  "slow-disk": async (scene) => {
    const name = await anyone(scene);
    await slowDisk(scene.ground.lab, podOf(scene, name), slowIops);
    return name;
  },
  "freeze-api": async ({ ground: { lab } }) => {
    await freezeApi(lab);
    return "the API server";
  },
  "restart-api": async ({ ground: { lab } }) => {
    await restartApi(lab);
    return "the API server";
  },
  "stop-dns": async ({ ground: { lab } }) => {
    await stopDns(lab);
    return "DNS";
  },
  "freeze-dns": async ({ ground: { lab } }) => {
    await freezeDns(lab);
    return "DNS";
  },
};

const podOf = ({ subject }: Scene, name: string): string => `${subject.key.namespace}/${name}`;

async function leader({ subject }: Scene): Promise<string> {
  return (await subject.roles()).leader;
}

async function follower({ subject, round }: Scene): Promise<string> {
  const { followers } = await subject.roles();
  const name = followers[Math.floor(round.victim * followers.length)];
  if (name === undefined) throw new Error("there is no follower");
  return name;
}

async function anyone({ subject, round }: Scene): Promise<string> {
  const { leader, followers } = await subject.roles();
  const all = [leader, ...followers].toSorted();
  return all[Math.floor(round.victim * all.length)] ?? leader;
}

async function kill(scene: Scene, name: string): Promise<string> {
  await killContainer(scene.ground.lab, podOf(scene, name), "etcd");
  return name;
}

async function pause(scene: Scene, name: string): Promise<string> {
  await pauseContainer(scene.ground.lab, podOf(scene, name), "etcd");
  return name;
}

async function deletePod({ ground, subject: { key } }: Scene, name: string): Promise<string> {
  await ground.api.delete(Pod, { namespace: key.namespace, name }, { gracePeriodSeconds: 0 });
  return name;
}

async function deleteTwo(scene: Scene): Promise<string> {
  const { subject, ground } = scene;
  const first = await deletePod(scene, await follower(scene));
  await waitFor(
    `${first} to be replaced`,
    async () => {
      ground.signal.throwIfAborted();
      const { voters = [], healthy } = await subject.look();
      return (healthy && !voters.includes(first)) || undefined;
    },
    { timeoutMs: replacedWithinMs, everyMs: 200 },
  );
  return [first, await deletePod(scene, await leader(scene))].join(", ");
}

async function onNodeOf(scene: Scene, hit: (node: string) => Promise<void>): Promise<string> {
  const name = await anyone(scene);
  const node = scene.subject.nodeOf(name);
  await hit(node);
  return `${node} with ${name}`;
}

/** One way: what the leader sends gets lost. */
async function cutOff(scene: Scene, way: "both" | "one-way"): Promise<string> {
  const { leader, followers } = await scene.subject.roles();
  for (const name of followers) await cutPods(scene.ground.lab, podOf(scene, leader), podOf(scene, name), way);
  return `${leader} from ${followers.join(", ")}`;
}
