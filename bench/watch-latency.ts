// How long after a change was asked for do those hear of it who watch: through the informer, and through a bare HTTP/2
// stream in the same process that gets the same changes.
import { Informer } from "../src/kube/cache/informer.ts";
import { ConfigMap } from "../src/kube/objects/kinds.ts";
import { keyOf } from "../src/kube/objects/objects.ts";
import { Bare } from "./bare.ts";
import type { Ground } from "./ground.ts";
import { compare, type Figure } from "./measure.ts";
import { smallObject } from "./objects.ts";

const warmUp = 50;
const heardWithinMs = 30_000;

/** One who watches: when each change came to it. */
class Listener {
  readonly #name: string;
  #waiting: { change: string; heard: (at: number) => void } | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  hear(change: string | undefined): void {
    const at = performance.now();
    if (change !== undefined && this.#waiting?.change === change) this.#waiting.heard(at);
  }

  /** The moment at which this change is heard of. */
  next(change: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const late = `${this.#name} did not hear of change ${change} within ${heardWithinMs} ms`;
      const timer = setTimeout(() => reject(new Error(late)), heardWithinMs);
      const heard = (at: number): void => {
        clearTimeout(timer);
        resolve(at);
      };
      this.#waiting = { change, heard };
    });
  }
}

export async function watchLatency(ground: Ground): Promise<Figure[]> {
  const { api, options } = ground;
  const namespace = await ground.namespace();
  const object = await api.create(ConfigMap, smallObject(namespace, 0));
  const end = new AbortController();
  const bare = new Bare(await ground.access("bench-bare"));
  try {
    const ours = new Listener("the informer");
    const informer = new Informer({ api, kind: ConfigMap, selection: { namespace }, observe: () => undefined });
    informer.subscribe((change) => ours.hear(change.object.data?.["change"]));
    void informer.run(end.signal);
    await informer.whenSynced(ground.signal);

    const floor = new Listener("the bare watch");
    const from = object.metadata?.resourceVersion ?? "";
    bare.watch(`/api/v1/namespaces/${namespace}/configmaps`, from, (event) =>
      floor.hear((event as { object: ConfigMap }).object.data?.["change"]),
    );

    const latencies = { ours: [] as number[], floor: [] as number[], patch: [] as number[] };
    for (let count = -warmUp; count < options.events; count += 1) {
      ground.signal.throwIfAborted();
      const change = String(count);
      const heard = Promise.all([ours.next(change), floor.next(change)]);
      const began = performance.now();
      await api.mergePatch(ConfigMap, keyOf(object), { data: { change } });
      const patched = performance.now();
      const [oursAt, floorAt] = await heard;
      if (count < 0) continue;
      latencies.ours.push(oursAt - began);
      latencies.floor.push(floorAt - began);
      latencies.patch.push(patched - began);
    }
    return [
      compare({
        what: "change asked for → handler",
        unit: "ms",
        ours: latencies.ours,
        floor: latencies.floor,
        floorIs: "bare node:http2 watch",
      }),
      compare({
        what: "change asked for → handler",
        unit: "ms",
        ours: latencies.ours,
        floor: latencies.patch,
        floorIs: "answer to the change itself",
      }),
    ];
  } finally {
    end.abort();
    bare.close();
  }
}
