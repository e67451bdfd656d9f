// The changes by name: what a person asks for while a cluster is under a fault. How they are made is in `begin.ts`.

export const etcdVersions = ["3.5.35", "3.6.16", "3.7.3"] as const;
export type EtcdVersion = (typeof etcdVersions)[number];

export interface ChangeKind {
  readonly what: string;
  /** How many members there are before and after. Default: 3. */
  readonly sizes?: readonly [before: number, after: number];
  /** The versions before and after. Default: one, drawn. */
  readonly versions?: readonly [before: EtcdVersion, after: EtcdVersion];
  /** Whether there have to be certificates and a login, or must not be. Default: either. */
  readonly secured?: boolean;
  /** It replaces all data by way of a single member, after the clients have ended. */
  readonly afterTraffic?: true;
  /** The operator does nothing meanwhile, as it was told to. */
  readonly holdsOperator?: true;
  /** Members keep no volumes across it, or it has been given none. */
  readonly withoutVolumes?: true;
}

const changeKinds = {
  none: { what: "nothing; shows what the faults alone do" },
  "scale-1-3": { what: "one member becomes three", sizes: [1, 3] },
  "scale-3-5": { what: "three members become five", sizes: [3, 5] },
  "scale-5-3": { what: "five members become three", sizes: [5, 3] },
  "scale-3-1": { what: "three members become one", sizes: [3, 1] },
  "upgrade-3.6": { what: "etcd 3.5 becomes 3.6", versions: ["3.5.35", "3.6.16"] },
  "upgrade-3.7": { what: "etcd 3.6 becomes 3.7", versions: ["3.6.16", "3.7.3"] },
  setting: { what: "a flag of etcd changes, so every member is replaced" },
  "rotate-ca": { what: "both CAs are replaced", secured: true },
  "tls-on": { what: "TLS is turned on", secured: false },
  "tls-off": { what: "TLS is turned off", secured: false },
  backup: { what: "a backup is taken and read back" },
  restore: {
    what: "a backup is restored in place",
    afterTraffic: true,
    withoutVolumes: true,
  },
  "pause-resume": { what: "the cluster is paused, and resumed some seconds later", holdsOperator: true },
  "restart-operator": { what: "the operator's Deployment is rolled out again" },
} satisfies Readonly<Record<string, ChangeKind>>;

export type ChangeName = keyof typeof changeKinds;
export const changes: Readonly<Record<ChangeName, ChangeKind>> = changeKinds;
export const changeNames = Object.keys(changeKinds) as readonly ChangeName[];

/** How many members hold the data at the worst moment of the change. */
export function fewestMembers(name: ChangeName): number {
  const { sizes = [3, 3], afterTraffic } = changes[name];
  return afterTraffic === true ? 1 : Math.min(...sizes);
}
