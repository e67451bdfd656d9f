// What TLS means for a cluster's objects: what the spec asks for, what a pod speaks, the names of the Secrets, where pods
// find them, and the names that certificates must cover. Pods mount Secrets of the operator, never what a person gave.
import type { Volume, VolumeMount } from "kubernetes-types/core/v1.js";
import { type CompleteEtcdCluster, EtcdCluster, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type AuthorityUse, type GivenUse, type LeafUse, secretName } from "../../api/etcd-cluster/secret-names.ts";
import { variableOf } from "../../api/etcd-cluster/etcd-flags.ts";
import { hasFlag, hasSetting, type Spelling, spellingsOf, spellingsToSet, takesAs } from "../../etcd/versions/flags.ts";
import type { EtcdVersion } from "../../etcd/versions/version.ts";
import type { MemberName } from "./names.ts";

export * from "../../api/etcd-cluster/secret-names.ts";

/**
 * How a member is reached by its peers. `ready` is the step between: it is reached in plain text, and has what it needs to
 * reach others by TLS.
 */
export type PeerTls = "plain" | "ready" | "tls";

/** What a pod speaks, and which CA bundles its etcd has read. */
export interface PodTls {
  readonly peer: PeerTls;
  readonly client: boolean;
  /** Fingerprints of the bundles; absent: not known. */
  readonly trusts: Sides;
  /** The CAs in those bundles, by their keys, as `anchorsIn` writes them: no Secret may hold them any more. Absent: not known. */
  readonly anchors: Sides;
  /** The signers of the certificates that were in its Secrets when it was made; absent: not known. */
  readonly presents: Sides;
  /** Its certificates are the operator's, from a CA that signs for this cluster alone. */
  readonly made: boolean;
}

interface Sides {
  readonly peer?: string;
  readonly client?: string;
}

export const plainText: PodTls = { peer: "plain", client: false, trusts: {}, anchors: {}, presents: {}, made: false };

export type Scheme = "http" | "https";

export const schemeOf = (isTls: boolean): Scheme => (isTls ? "https" : "http");

/** As the spec asks for it. Clients of etcd-operator 0.9 send the empty fields, too. */
export function tlsOf({ spec: { TLS } }: Pick<CompleteEtcdCluster, "spec">): {
  readonly peer: boolean;
  readonly client: boolean;
  readonly made: boolean;
} {
  const made = TLS?.auto === true;
  const { peer, server, operator } = givenIn(TLS);
  return { peer: made || peer !== "", client: made || (server !== "" && operator !== ""), made };
}

/** The names of the Secrets that a person made; empty: none. */
export const givenSecrets = ({ spec }: Pick<CompleteEtcdCluster, "spec">): Readonly<Record<GivenUse, string>> =>
  givenIn(spec.TLS);

function givenIn(TLS: CompleteEtcdCluster["spec"]["TLS"] | undefined): Readonly<Record<GivenUse, string>> {
  const { member, operatorSecret } = TLS?.static ?? {};
  return {
    peer: member?.peerSecret ?? "",
    server: member?.serverSecret ?? "",
    operator: operatorSecret ?? "",
  };
}

/** All Secrets that an EtcdCluster names, as it is stored: certificates, and the operator's login. */
export function namedSecrets(stored: EtcdCluster): readonly string[] {
  const cluster = withDefaults(stored);
  const login = cluster.spec.auth?.operatorSecret ?? "";
  return [...Object.values(givenSecrets(cluster)), login].filter((name) => name !== "");
}

export const leafUses: readonly LeafUse[] = ["peer", "server", "operator", "client"];
export const authorityUses: readonly AuthorityUse[] = ["peer-ca", "client-ca"];

/** Two CAs, so that the certificate of a client is never taken for that of a peer. */
export const signedBy: Readonly<Record<AuthorityUse, readonly LeafUse[]>> = {
  "peer-ca": ["peer"],
  "client-ca": ["server", "operator", "client"],
};

export const trustsPeerAnnotation = `${EtcdCluster.group}/trusts-peer`;
const trustsClientAnnotation = `${EtcdCluster.group}/trusts-client`;
export const anchorsPeerAnnotation = `${EtcdCluster.group}/anchors-peer`;
const anchorsClientAnnotation = `${EtcdCluster.group}/anchors-client`;
/** Changed when the files of the pod were renewed, so that its kubelet reads it again. */
export const renewedAnnotation = `${EtcdCluster.group}/renewed`;
/** The CA behind the certificate that was in use when the pod was made. */
export const presentsPeerAnnotation = `${EtcdCluster.group}/presents-peer`;
const presentsClientAnnotation = `${EtcdCluster.group}/presents-client`;
/** On an EtcdCluster: the CAs are to be replaced. On the Secret of a CA: what it said when that was done. */
export const rotateCaAnnotation = `${EtcdCluster.group}/rotate-ca`;
/** A member serves clients. Kubelets have no client certificate and cannot find out, so the operator tells them. */
export const servingGate = `${EtcdCluster.group}/serving`;

const sideAnnotations = [
  ["trusts", "peer", trustsPeerAnnotation],
  ["trusts", "client", trustsClientAnnotation],
  ["anchors", "peer", anchorsPeerAnnotation],
  ["anchors", "client", anchorsClientAnnotation],
  ["presents", "peer", presentsPeerAnnotation],
  ["presents", "client", presentsClientAnnotation],
] as const;

/** What is written on a pod. */
export type PodTrust = Pick<PodTls, "trusts" | "anchors" | "presents">;

export function trustAnnotations(tls: PodTrust): Record<string, string> {
  return Object.fromEntries(
    sideAnnotations.flatMap(([what, side, name]) => {
      const value = tls[what][side];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

export function trustIn(annotations: Readonly<Record<string, string>>): PodTrust {
  const read = (wanted: keyof PodTrust): Sides =>
    Object.fromEntries(
      sideAnnotations.flatMap(([what, side, name]) => {
        const value = annotations[name];
        return what === wanted && value !== undefined ? [[side, value]] : [];
      }),
    );
  return { trusts: read("trusts"), anchors: read("anchors"), presents: read("presents") };
}

// Files, under the names of etcd-operator 0.9.

const folders = { peer: "/etc/etcdtls/member/peer-tls", server: "/etc/etcdtls/member/server-tls" } as const;
const volumes = { peer: "member-peer-tls", server: "member-server-tls" } as const;

const mounted = ({ peer, client }: PodTls): ("peer" | "server")[] => [
  ...(peer === "plain" ? [] : (["peer"] as const)),
  ...(client ? (["server"] as const) : []),
];

export function tlsVolumes(cluster: CompleteEtcdCluster, tls: PodTls): Volume[] {
  // Readable for the group of the pod, which etcd runs in, and for nobody else.
  return mounted(tls).map((use) => ({
    name: volumes[use],
    secret: { secretName: secretName(cluster, use), defaultMode: 0o440 },
  }));
}

/** Whole folders: kubelets renew what is in them, and do not renew single files. */
export function tlsMounts(tls: PodTls): VolumeMount[] {
  return mounted(tls).map((use) => ({ name: volumes[use], mountPath: folders[use], readOnly: true }));
}

/** In the order in which etcd-operator 0.9 wrote them. */
export function tlsFlags(tls: PodTls): readonly (readonly [flag: string, value: string])[] {
  const { peer, server } = folders;
  return mounted(tls).flatMap((use) =>
    use === "peer"
      ? [
          ["peer-client-cert-auth", "true"],
          ["peer-trusted-ca-file", `${peer}/peer-ca.crt`],
          ["peer-cert-file", `${peer}/peer.crt`],
          ["peer-key-file", `${peer}/peer.key`],
        ]
      : [
          ["client-cert-auth", "true"],
          ["trusted-ca-file", `${server}/server-ca.crt`],
          ["cert-file", `${server}/server.crt`],
          ["key-file", `${server}/server.key`],
        ],
  );
}

/** How a member knows that who dials it is a peer, once the CA of peers has signed its certificate. */
type PeerCheck =
  /** By nothing else: the CA signs for this cluster alone. */
  | "signature"
  /** The certificate has to be for a member of this cluster, whatever address it comes from. */
  | "name"
  /** The address has to have one of the certificate's names in DNS, or the certificate no name at all. */
  | "dns";

const skipsDns: Spelling = { t: "flag", name: "peer-skip-client-san-verification" };
const allowedName = "peer-cert-allowed-hostname";

/** Settings by which a person says who is a peer. etcd does not start with two of them. */
const peerSettings: readonly string[] = ["peer-cert-allowed-cn", allowedName];

/**
 * etcd asks DNS for the names of the address that dials it, and a member that has just started is not in DNS yet: it is
 * refused, exits, and the kubelet backs off. So DNS is asked only where a version cannot do without: 3.2 has no setting
 * for it, and 3.3 cannot compare a name instead.
 */
export function peerCheckOf(version: EtcdVersion, { made }: Pick<PodTls, "made">, chosen: ByPerson = []): PeerCheck {
  if (!hasSetting(version, skipsDns)) return "dns";
  if (made) return "signature";
  const isChosen = [...spellingsOf(skipsDns).flatMap(flagNameOf), ...peerSettings].some((flag) =>
    chosen.includes(flag),
  );
  return hasFlag(version, allowedName) && !isChosen ? "name" : "dns";
}

/** Flags of etcd that the spec sets, as arguments or as variables. */
type ByPerson = readonly string[];

/** `host`: any name of a member; a certificate that is for one is for all. */
export function tlsVariables(
  version: EtcdVersion,
  tls: PodTls,
  { host, chosen }: { readonly host: string; readonly chosen: ByPerson },
): readonly (readonly [string, string])[] {
  const check = peerCheckOf(version, tls, chosen);
  if (tls.peer === "plain" || check === "dns") return [];
  const skipping = spellingsToSet(version, skipsDns).flatMap(flagNameOf);
  return [
    ...skipping.map((name) => [name, "true"] as const),
    ...(check === "name" ? [[allowedName, host] as const] : []),
  ];
}

const flagNameOf = (spelling: Spelling): string[] => (spelling.t === "flag" ? [spelling.name] : []);

/** How a pod that is there tells its peers, by the variables that it was made with. */
export function peerCheckBy(variables: readonly string[]): PeerCheck {
  const isSkipping = spellingsOf(skipsDns)
    .flatMap(flagNameOf)
    .some((name) => variables.includes(variableOf(name)));
  if (!isSkipping) return "dns";
  return variables.includes(variableOf(allowedName)) ? "name" : "signature";
}

/** Whether it would ask DNS in this version though it does not where it was made: the setting has another name there. */
export function wouldAskDns(variables: readonly string[], version: EtcdVersion): boolean {
  if (peerCheckBy(variables) === "dns" || !hasSetting(version, skipsDns)) return false;
  return !spellingsOf(skipsDns).some(
    (one) => takesAs(version, one) && flagNameOf(one).some((name) => variables.includes(variableOf(name))),
  );
}

// Names in certificates

const usualDomain = ".cluster.local";

/** What a certificate must cover: the names under which members are dialled, by their peers or by the operator. */
export function requiredNames(cluster: CompleteEtcdCluster, use: GivenUse): readonly string[] {
  const { name, namespace } = cluster.metadata;
  if (use === "operator") return [];
  return [`*.${name}.${namespace}.svc${use === "peer" ? cluster.spec.pod.ClusterDomain : ""}`];
}

/** What those that the operator makes cover: every name that a client may use for a member or for the Services. */
export function namesToMake(cluster: CompleteEtcdCluster, use: "peer" | "server"): readonly string[] {
  const { name, namespace } = cluster.metadata;
  const domains = [...new Set(["", usualDomain, cluster.spec.pod.ClusterDomain])];
  const services = use === "peer" ? [name] : [name, `${name}-client`];
  const long = domains.flatMap((domain) => [
    `*.${name}.${namespace}.svc${domain}`,
    ...services.map((service) => `${service}.${namespace}.svc${domain}`),
  ]);
  const short = services.flatMap((service) => [service, `${service}.${namespace}`]);
  return use === "peer" ? long : [...long, ...short, "localhost"];
}

/** The name that the operator looks for in a member's certificate: its host, without the domain if that is not covered. */
export function serverNameOf(cluster: Pick<CompleteEtcdCluster, "metadata">, member: MemberName): string {
  const { name, namespace } = cluster.metadata;
  return `${member}.${name}.${namespace}.svc`;
}
