// How far each member was when it was last seen. A member that serves never goes back behind its own term or index, for
// it keeps both on disk before it answers; one that does has lost its disk. Kept in memory, for members that answer.
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { MemberId } from "../../etcd/ids.ts";
import type { MemberStatus } from "../../etcd/member.ts";
import { type Key, keyOf, keyText } from "../../kube/objects/objects.ts";

interface Seen {
  readonly term: number;
  readonly index: number;
}

interface ClusterProgress {
  /** The uid of the EtcdCluster: another one of the same name has other members. */
  readonly uid: string;
  readonly seen: ReadonlyMap<MemberId, Seen>;
  readonly wiped: ReadonlySet<MemberId>;
}

export class Progress {
  /** By namespace and name. */
  readonly #clusters = new Map<string, ClusterProgress>();

  /**
   * Notes what members answered, and says which of those that etcd lists have lost their data at any time since they
   * joined. Members that are off the list are forgotten: an id is never given twice.
   */
  note(
    cluster: CompleteEtcdCluster,
    answers: Iterable<MemberStatus>,
    listed: readonly { readonly id: MemberId }[],
  ): ReadonlySet<MemberId> {
    const key = keyText(keyOf(cluster));
    const { uid = "" } = cluster.metadata;
    const known = this.#clusters.get(key);
    const before = known?.uid === uid ? known : { seen: new Map<MemberId, Seen>(), wiped: new Set<MemberId>() };
    const isListed = (id: MemberId): boolean => listed.some((member) => member.id === id);
    const seen = new Map([...before.seen].filter(([id]) => isListed(id)));
    const wiped = new Set([...before.wiped].filter(isListed));
    for (const { memberId, raftTerm: term, raftIndex: index } of answers) {
      if (!isListed(memberId)) continue;
      const last = seen.get(memberId);
      if (last !== undefined && (term < last.term || index < last.index)) wiped.add(memberId);
      seen.set(memberId, { term, index });
    }
    this.#clusters.set(key, { uid, seen, wiped });
    return wiped;
  }

  forget(key: Key): void {
    this.#clusters.delete(keyText(key));
  }
}
