// How a worker reaches the etcd of an EtcdCluster: at the client URLs of its members, with the operator's own certificate
// and login.
import type { CompleteEtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { secretName } from "../api/etcd-cluster/secret-names.ts";
import type { EtcdSource } from "./job.ts";
import { folders, type Mount } from "./mounts.ts";

export interface Reached {
  readonly source: EtcdSource;
  readonly mounts: readonly Mount[];
}

/** Undefined while no member has been seen to serve. */
export function sourceOf(cluster: CompleteEtcdCluster): Reached | undefined {
  const clientEndpoints = cluster.status.clientEndpoints.filter((url) => isMember(cluster, url));
  if (clientEndpoints.length === 0) return undefined;
  const login = cluster.spec.auth?.operatorSecret ?? "";
  // What members speak is what their pods were started with, whatever the spec says by now; and the Secret is there as
  // long as one of them speaks TLS.
  const speakTls = clientEndpoints.some(isTls);
  return {
    source: {
      endpoints: clientEndpoints.map((url) => (isTls(url) ? withoutDomain(cluster, url) : url)),
      ...(speakTls && { tlsFolder: folders.tls }),
      // Whether its members speak TLS is for the owner of the cluster to say.
      ...(login !== "" && { loginFolder: folders.login, loginOverHttp: true }),
    },
    mounts: [
      ...(speakTls ? [{ folder: folders.tls, secret: secretName(cluster, "operator") }] : []),
      ...(login === "" ? [] : [{ folder: folders.login, secret: login }]),
    ],
  };
}

/**
 * The URLs are made of names that etcd's list has: what is not below the cluster's own Service gets neither its login nor its
 * certificate. Any domain will do, because the status may be older than a change of `spec.pod.ClusterDomain`.
 */
function isMember({ metadata }: CompleteEtcdCluster, url: string): boolean {
  const service = `.${metadata.name}.${metadata.namespace}.svc`;
  const [, host = ""] = /^https?:\/\/[a-z0-9-]+(\.[a-z0-9.-]+):2379$/.exec(url) ?? [];
  return host === service || host.startsWith(`${service}.`);
}

const isTls = (url: string): boolean => url.startsWith("https:");

/** Certificates of members need not cover the names with the domain; pods resolve those without it, too. */
function withoutDomain({ metadata, spec }: CompleteEtcdCluster, url: string): string {
  const service = `.${metadata.name}.${metadata.namespace}.svc`;
  return url.replace(`${service}${spec.pod.ClusterDomain}`, service);
}
