// Live news about all clusters or one, shared by all who view the same. While nobody watches, nothing is read and nothing
// is watched.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Selection } from "../../kube/client/api.ts";
import { type Key, keyText } from "../../kube/objects/objects.ts";
import type { Reach } from "../place/reach.ts";
import { sentenceOf } from "../place/sentences.ts";
import { follow, type WatchedKind, sourcesOfCluster, sourcesOfFleet } from "../observe/follow.ts";
import { all, found, observe } from "../observe/observe.ts";
import { fleetOf } from "../view/fleet.ts";
import type { SameFlags } from "./command-lines.ts";
import { Samples } from "./history.ts";
import type { Message } from "./messages.ts";
import { tellOfCluster, tellOfFleet } from "./tell.ts";

interface FeedOptions {
  readonly reach: Reach;
  /** Absent: the clusters of all namespaces. */
  readonly namespace?: string;
  readonly flags: SameFlags;
  readonly now: () => number;
}

export type Topic = { readonly t: "fleet" } | { readonly t: "cluster"; readonly key: Key };

type Listener = (message: Message) => void;

interface Channel {
  readonly listeners: Set<Listener>;
  readonly stop: AbortController;
  last: Message | undefined;
}

export class Feed {
  readonly #options: FeedOptions;
  readonly #channels = new Map<string, Channel>();
  /** Kept when nobody watches any more: a reload goes on where it was. */
  readonly #samples = new Map<string, Samples>();

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** How many things are being read and watched. */
  get active(): number {
    return this.#channels.size;
  }

  /** Only what the command was asked to show. */
  shows(topic: Topic): boolean {
    const { namespace } = this.#options;
    return topic.t === "fleet" || namespace === undefined || topic.key.namespace === namespace;
  }

  /** Tells the listener what is known, and then all that changes, until the function that it gives back is called. */
  listen(topic: Topic, listener: Listener): () => void {
    const name = topic.t === "fleet" ? "" : keyText(topic.key);
    const channel = this.#channels.get(name) ?? this.#open(name, topic);
    channel.listeners.add(listener);
    if (channel.last !== undefined) listener(channel.last);
    return () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size > 0 || this.#channels.get(name) !== channel) return;
      channel.stop.abort();
      this.#channels.delete(name);
    };
  }

  #open(name: string, topic: Topic): Channel {
    const channel: Channel = { listeners: new Set(), stop: new AbortController(), last: undefined };
    this.#channels.set(name, channel);
    const { signal } = channel.stop;
    const refresh = async (): Promise<void> => {
      const message = await this.#read(name, topic);
      if (signal.aborted) return;
      channel.last = message;
      for (const listener of channel.listeners) listener(message);
    };
    void refresh().then(() => follow({ api: this.#options.reach.api, sources: this.#sources(topic), refresh, signal }));
    return channel;
  }

  get #selection(): Selection {
    const { namespace } = this.#options;
    return namespace === undefined ? {} : { namespace };
  }

  #sources(topic: Topic): readonly WatchedKind[] {
    return topic.t === "fleet" ? sourcesOfFleet(this.#selection) : sourcesOfCluster(topic.key);
  }

  /** What cannot be read is a sentence: the next read may succeed. */
  async #read(name: string, topic: Topic): Promise<Message> {
    const { now } = this.#options;
    try {
      return topic.t === "fleet" ? await this.#readFleet() : await this.#readCluster(name, topic.key);
    } catch (error) {
      return { t: "problem", at: now(), sentence: sentenceOf(error) };
    }
  }

  async #readFleet(): Promise<Message> {
    const { reach, now, namespace } = this.#options;
    const [clusters, backups] = await Promise.all([
      all(reach.api, EtcdCluster, this.#selection),
      found(() => all(reach.api, EtcdBackup, this.#selection)),
    ]);
    return tellOfFleet(fleetOf(clusters, backups, now()), now(), namespace);
  }

  async #readCluster(name: string, key: Key): Promise<Message> {
    const { reach, now, flags } = this.#options;
    const observed = await observe(reach, key, now());
    const samples = this.#samples.get(name) ?? new Samples();
    // Only for clusters that exist, so that it cannot grow by asking for others.
    this.#samples.set(name, samples);
    return tellOfCluster(observed, samples, flags);
  }
}
