// The name of the operator's image, in the manifests and in what is built.
import { version } from "./version.ts";

/**
 * No image is published yet. Names under .invalid are reserved and never resolve (RFC 2606), so nodes run what was loaded
 * into them, or nothing, but never what somebody else pushed under a name like ours.
 */
export const image = { repository: "etcd-operator.invalid/etcd-operator", tag: version } as const;
