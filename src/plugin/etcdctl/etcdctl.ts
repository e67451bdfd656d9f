// etcdctl for one command of the plugin: in the member itself where that needs no secret, else in a pod of its own that is
// deleted at the end. No secret is part of an argument, here or in a pod.
import { randomBytes } from "node:crypto";
import { pause, systemClock } from "../../kube/clock.ts";
import { unlessNotFound } from "../../kube/client/get-or-undefined.ts";
import { Pod, Secret } from "../../kube/objects/kinds.ts";
import { type Key, keyOf } from "../../kube/objects/objects.ts";
import type { Call } from "../command.ts";
import type { Target } from "../one-cluster.ts";
import { Refusal } from "../place/refusal.ts";
import { clientPod, inClientPod, loginSecret } from "./client-pod.ts";
import { type Identity, identityOf } from "./login.ts";
import { endpointOf, execWords, inMember, type Input, type ExecPlace } from "./words.ts";

export interface Etcdctl {
  /** Shares the terminal with it. `endpoints`: absent, those of the member. */
  run(member: Pod, words: readonly string[], options: { endpoints: readonly string[]; input: Input }): Promise<number>;
  /** What it prints when it asks this member. */
  read(member: Pod, words: readonly string[]): Promise<string>;
}

export async function withEtcdctl<T>(
  call: Call,
  target: Target,
  member: Pod,
  use: (etcdctl: Etcdctl) => Promise<T>,
): Promise<T> {
  const identity = await identityOf(call, target, member);
  if (identity.certificate === undefined && identity.login === undefined) return use(etcdctlIn(call, inMember));
  return withClientPod(call, target, member, identity, (place) => use(etcdctlIn(call, () => place)));
}

function etcdctlIn({ kubectl }: Call, placeFor: (member: Pod) => ExecPlace): Etcdctl {
  return {
    run: (member, words, { endpoints, input }) =>
      kubectl.run(
        execWords(placeFor(member), endpoints.length > 0 ? endpoints : [endpointOf(member)], words, input),
        "bytes",
      ),
    read: (member, words) => kubectl.read(execWords(placeFor(member), [endpointOf(member)], words, "none")),
  };
}

async function withClientPod<T>(
  call: Call,
  { key, reach: { api }, observed: { cluster } }: Target,
  member: Pod,
  identity: Identity,
  use: (place: ExecPlace) => Promise<T>,
): Promise<T> {
  const at: Key = { namespace: key.namespace, name: `${key.name.slice(0, 40)}-ctl-${randomBytes(4).toString("hex")}` };
  const made: (() => Promise<unknown>)[] = [];
  try {
    if (identity.login !== undefined) {
      await api.create(Secret, loginSecret(cluster, at.name, identity.login));
      made.push(() => api.delete(Secret, at));
    }
    const pod = await api.create(Pod, clientPod(cluster, member, at.name, identity));
    made.push(() => api.delete(Pod, at, { gracePeriodSeconds: 0 }));
    await untilRunning(call, api, keyOf(pod), identity);
    return await use(inClientPod(pod, identity));
  } finally {
    for (const remove of made.toReversed()) await remove().catch(unlessNotFound);
  }
}

const patience = 60_000;
const pollEveryMs = 200;

async function untilRunning(
  { signal }: Call,
  api: Target["reach"]["api"],
  key: Key,
  identity: Identity,
): Promise<void> {
  const deadline = systemClock.now() + patience;
  for (;;) {
    const { status } = await api.get(Pod, key);
    const [container] = status?.containerStatuses ?? [];
    if (container?.state?.running !== undefined) return;
    const { reason = status?.reason, message = status?.message } = container?.state?.waiting ?? {};
    const why = [reason, message].filter((text) => text !== undefined && text !== "").join(": ");
    if (status?.phase === "Failed" || status?.phase === "Succeeded" || systemClock.now() > deadline)
      throw new Refusal(
        `The pod ${key.name}, which runs etcdctl, does not start${why === "" ? "" : ` (${why})`}.${certificateHint(identity)}`,
      );
    await pause(systemClock, pollEveryMs, signal);
    signal.throwIfAborted();
  }
}

const certificateHint = ({ certificate }: Identity): string =>
  certificate === undefined ? "" : ` It mounts the Secret ${certificate}: check that this Secret exists.`;
