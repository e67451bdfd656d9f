// What people and nature do to a cluster, as data that fast-check can draw and shrink; how it is done on a stage is in
// nature.ts.
import * as fc from "fast-check";
import { type Quota, quotas, type Webhook, webhooks } from "./admission.ts";
import { type Cached, cached } from "./views.ts";

/** `who` picks a pod or a member, modulo how many there are. */
export type Happening =
  | { readonly t: "nothing" | "revive" | "allow" | "mend" | "hear" | "correct" | "addByHand" }
  | { readonly t: "scale"; readonly size: number }
  | { readonly t: "deletePod" | "evict" | "silence" | "wipe" | "removeByHand"; readonly who: number }
  | { readonly t: "kill"; readonly who: number; readonly forMs: number; readonly reason: "Error" | "OOMKilled" }
  | { readonly t: "holdUp"; readonly who: number; readonly reason: "ErrImagePull" | "CreateContainerConfigError" }
  /** Something around the members is deleted; `forGood`: it may not be made again until that is allowed. */
  | { readonly t: "strip"; readonly of: Around; readonly who: number; readonly forGood: boolean }
  | { readonly t: "version"; readonly to: string }
  | { readonly t: "settings"; readonly snapshotCount: number }
  | { readonly t: "repository"; readonly to: string }
  | { readonly t: "path"; readonly path: "Manual" | "Automatic" }
  | { readonly t: "strategy"; readonly strategy: "RollingUpdate" | "OnDelete" }
  | { readonly t: "restart"; readonly at: number }
  | { readonly t: "spoil"; readonly how: "version" | "resources" | "flags" }
  | { readonly t: "pods"; readonly made: "asWritten" | "withoutMaxLearners" }
  /** Caches hear nothing more of what was changed. */
  | { readonly t: "deaf"; readonly to: Cached }
  /** Another operator takes over, whose caches begin with what there was of these a while ago. */
  | { readonly t: "pastRestart"; readonly of: readonly Cached[]; readonly agoMs: number }
  /** Another process gets the lease, and the one that had it runs on; or one on a node whose clock is wrong. */
  | { readonly t: "overtake" }
  | { readonly t: "wrongClock"; readonly fastBy: number }
  | { readonly t: "deleteClaim"; readonly who: number }
  /** All at once. */
  | { readonly t: "deletePods" | "deleteClaims" }
  /** Somebody asks for a backup; for the data of the newest one. */
  | { readonly t: "backUp" | "restore" }
  /** The EtcdCluster is deleted and applied again, as it was read before: with its annotations, without its status. */
  | { readonly t: "reapply" }
  /** The EtcdCluster and its claims are brought into another namespace, with copies of the volumes. */
  | { readonly t: "clone" }
  /** A webhook changes the pods that are made, in its own way; a quota refuses what is made. */
  | { readonly t: "webhook"; readonly does: Webhook }
  | { readonly t: "quota"; readonly refuses: Quota }
  | { readonly t: "grow"; readonly storage: string }
  | { readonly t: "retain"; readonly policy: "Retain" | "Delete" }
  | { readonly t: "volumes"; readonly are: "wanted" | "unwanted" }
  /** Other CAs are asked for. */
  | { readonly t: "rotate"; readonly what: number }
  /** The network fails for a moment, and members connect again; all Secrets of the cluster are deleted; a backup tool keeps them; it brings back what it kept. */
  | { readonly t: "network" }
  | { readonly t: "loseSecrets" | "keepSecrets" | "bringSecretsBack" }
  /** What was replaced by that of another Secret does not belong to the rest; one Secret is deleted. */
  | { readonly t: "damageSecret"; readonly who: number; readonly what: "key" | "crt" }
  | { readonly t: "loseSecret"; readonly who: number }
  /** Somebody else writes on the Secrets what is his. */
  | { readonly t: "writeOnSecrets" }
  /** This many days go by. */
  | { readonly t: "days"; readonly number: number }
  | { readonly t: "domain"; readonly to: string }
  | { readonly t: "pause"; readonly for: "good" | "nothing" }
  /** The database grows to this share of its quota, in percent; a larger quota is asked for. */
  | { readonly t: "fill"; readonly percent: number }
  | { readonly t: "quotaBytes"; readonly to: number }
  /** Nodes have room for members, and for nothing more. */
  | { readonly t: "full"; readonly are: boolean };

export type Around = "peer" | "client" | "budget" | "labels";

const gibibyte = 1024 ** 3;
const who = fc.nat(20);
const of = <const T extends string>(t: T) => fc.constant(t);

/** By name, so that a property says which of them it is about. */
const arbitraries = {
  /** Sizes, and members that come and go as in any week. */
  everyday: fc.oneof(
    { weight: 2, arbitrary: fc.record({ t: of("scale"), size: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 4, arbitrary: fc.record({ t: fc.constantFrom("deletePod", "evict", "silence"), who }) },
    { weight: 1, arbitrary: fc.record({ t: of("revive") }) },
    {
      weight: 2,
      arbitrary: fc.record({
        t: of("kill"),
        who,
        forMs: fc.constantFrom(0, 8000, 300_000),
        reason: fc.constantFrom("Error", "OOMKilled"),
      }),
    },
    { weight: 1, arbitrary: fc.record({ t: of("removeByHand"), who }) },
    { weight: 1, arbitrary: fc.record({ t: of("addByHand") }) },
  ),
  /** Data directories that are lost while their pods stay. */
  wipes: fc.record({ t: of("wipe"), who }),
  /** Containers that cannot be started again. */
  images: fc.oneof(
    fc.record({ t: of("holdUp"), who, reason: fc.constantFrom("ErrImagePull", "CreateContainerConfigError") }),
    fc.record({ t: of("mend") }),
  ),
  /** What is around the members is lost, and may not be made again. */
  refusals: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        t: of("strip"),
        of: fc.constantFrom("peer", "client", "budget", "labels"),
        who,
        forGood: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ t: of("allow") }) },
  ),
  /** Other versions, also ones that cannot be reached, and other settings. */
  edits: fc.oneof(
    fc.record({ t: of("version"), to: fc.constantFrom("3.4.23", "3.5.35", "3.6.16", "3.7.3") }),
    fc.record({ t: of("settings"), snapshotCount: fc.constantFrom(1000, 20_000) }),
  ),
  /** What is changed one member at a time, with images that cannot be had or do not run among them. */
  rolls: fc.oneof(
    fc.record({
      t: of("repository"),
      to: fc.constantFrom("quay.io/coreos/etcd", "other.example/etcd", "missing.example/etcd", "crashing.example/etcd"),
    }),
    fc.record({ t: of("path"), path: fc.constantFrom("Manual", "Automatic") }),
    fc.record({ t: of("strategy"), strategy: fc.constantFrom("RollingUpdate", "OnDelete") }),
    fc.record({ t: of("restart"), at: fc.nat(3) }),
  ),
  /** What the operator cannot apply. */
  mistakes: fc.oneof(
    fc.record({ t: of("spoil"), how: fc.constantFrom("version", "resources", "flags") }),
    fc.record({ t: of("correct") }),
  ),
  /** Members that were started with other flags, by an older operator. */
  flags: fc.record({ t: of("pods"), made: fc.constantFrom("asWritten", "withoutMaxLearners") }),
  /** Caches that fall behind, and operators that begin with what an API server remembers. */
  oldViews: fc.oneof(
    fc.record({ t: of("deaf"), to: fc.constantFrom(...cached) }),
    fc.record({ t: of("hear") }),
    fc.record({
      t: of("pastRestart"),
      of: fc.subarray([...cached], { minLength: 1 }),
      agoMs: fc.constantFrom(2000, 10_000, 40_000),
    }),
  ),
  /** Two processes that take each other for the leader, and clocks that differ. */
  rivals: fc.oneof(
    fc.record({ t: of("overtake") }),
    fc.record({ t: of("wrongClock"), fastBy: fc.constantFrom(-240_000, 240_000) }),
  ),
  /** Backups are taken, and clusters are brought back to them. */
  restores: fc.oneof(
    { weight: 2, arbitrary: fc.record({ t: of("backUp") }) },
    { weight: 2, arbitrary: fc.record({ t: of("restore") }) },
  ),
  /** What people do with files of YAML. */
  reapplied: fc.record({ t: of("reapply") }),
  clones: fc.record({ t: of("clone") }),
  /** What stands between an operator and the API server. */
  admission: fc.oneof(
    fc.record({ t: of("webhook"), does: fc.constantFrom(...webhooks) }),
    fc.record({ t: of("quota"), refuses: fc.constantFrom(...quotas) }),
    fc.record({ t: of("allow") }),
  ),
  /** What happens to members with volumes of their own. */
  volumes: fc.oneof(
    fc.record({ t: of("deleteClaim"), who }),
    fc.record({ t: fc.constantFrom("deletePods", "deleteClaims") }),
    fc.record({ t: of("grow"), storage: fc.constantFrom("2Gi", "3Gi") }),
    fc.record({ t: of("retain"), policy: fc.constantFrom("Retain", "Delete") }),
  ),
  /** Members get volumes, and lose them. */
  moves: fc.record({ t: of("volumes"), are: fc.constantFrom("wanted", "unwanted") }),
  /** Members speak TLS, and CAs are replaced, also by others before that is over. */
  certificates: fc.record({ t: of("rotate"), what: fc.nat(9) }),
  /** What happens to Secrets in the hands of people and their tools, and in the course of months. */
  secrets: fc.oneof(
    fc.record({ t: fc.constantFrom("network", "loseSecrets", "keepSecrets", "bringSecretsBack", "writeOnSecrets") }),
    fc.record({ t: of("damageSecret"), who, what: fc.constantFrom("key", "crt") }),
    fc.record({ t: of("loseSecret"), who }),
    { weight: 3, arbitrary: fc.record({ t: of("days"), number: fc.constantFrom(1, 20, 30) }) },
    fc.record({ t: of("domain"), to: fc.constantFrom("", ".cluster.local", ".corp.example") }),
    fc.record({ t: of("pause"), for: fc.constantFrom("good", "nothing") }),
  ),
  /** Databases that grow, and nodes on which there is no room for more pods. */
  space: fc.oneof(
    fc.record({ t: of("fill"), percent: fc.constantFrom(50, 93, 97, 101) }),
    fc.record({ t: of("quotaBytes"), to: fc.constantFrom(3, 4).map((gibibytes) => gibibytes * gibibyte) }),
    fc.record({ t: of("full"), are: fc.boolean() }),
  ),
} satisfies Record<string, fc.Arbitrary<Happening>>;

export const volumesOf = (storage: string): object => ({
  persistentVolumeClaimSpec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
});

export type Sort = keyof typeof arbitraries;

export function happenings(sorts: readonly Sort[]): fc.Arbitrary<Happening> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ t: of("nothing") }) },
    ...sorts.map((sort) => ({ weight: sort === "everyday" ? 4 : 3, arbitrary: arbitraries[sort] })),
  );
}
