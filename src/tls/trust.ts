// The order in which members take over a changed CA, so that any two of them can connect at any time. A pure function
// of what is seen: an operator that died between two steps, or a wish that changed in the middle, needs nothing special.
//
// What etcd does: it reads its CA bundle once, when the process starts, for serving and for dialling; it reads its own
// certificate (the leaf) at each handshake, and the kubelet brings a changed Secret into each pod at any later moment.
// So the CA is taken over in three steps: trust both, roll; change the leaf, wait; trust the new one only, roll.
//
// Two rules make that hold for any sequence of wishes, forth and back again:
// - The bundle is not changed again before every member has read the one that is there. A container may restart in its
//   pod and read a newer bundle than the pod was made with, but then only the next one: members trust one of two.
// - The leaf is not exchanged for one of another CA, and no CA is dropped, before every member is known to present a
//   leaf of the CA that signs now. So there are leaves of two CAs at most, and both are trusted by all.
// A leaf of the same CA is exchanged at any time: who trusts the old one trusts the new one.
//
// How it is known that a member presents the new leaf: nothing says when a kubelet has brought a file, and waiting some
// minutes proves nothing about a node that was cut off. Proof is either a handshake with the member (`presented` from
// the wire; it takes no rights in Kubernetes) or a pod that was made after the Secret was written (`presented` from
// its annotation). With proof from the wire a rotation takes two rolls. Where the port cannot be reached, members
// are rolled once more, between the two.
import { addToBundle, bundleFingerprint, includes, signerOf } from "./ca-bundle.ts";
import type { Bundle } from "./pem.ts";
import { expiryOf } from "./validity.ts";

/** One side of the cluster: its peers. Towards clients see client-trust.ts. */
export interface Side {
  /** What the pods mount now; undefined when there is nothing yet. */
  readonly effective: Bundle | undefined;
  /** What was given and is good, or what was made last. */
  readonly wanted: Bundle;
  /** Of each running member, the `bundleFingerprint` of the bundle that was effective when its pod was made. */
  readonly trusted: readonly string[];
  /**
   * Of each running member, the `signerOf` (in the effective bundle) the leaf that it presents: as seen on the wire in this
   * reconcile, else that of the leaf that was effective when its pod was made. Undefined when nothing is known.
   */
  readonly presented: readonly (string | undefined)[];
  readonly now: number;
}

export type Next =
  | { readonly t: "settled" }
  | { readonly t: "write"; readonly bundle: Bundle; readonly because: string }
  /** Every pod has to be made anew whose annotation is not the fingerprint of the effective bundle. */
  | { readonly t: "waitForRoll"; readonly because: string }
  /** Each member has to be seen with a leaf of this signer, or its pod made anew. */
  | { readonly t: "waitForLeaf"; readonly signer: string; readonly because: string };

export function nextBundle(side: Side): Next {
  const { effective, wanted } = side;
  if (!effective) return write(wanted, "there are no certificates yet");
  const both = addToBundle(effective.ca, wanted.ca);
  const signer = signerOf(effective.pair.cert, effective.ca);
  if (signer === undefined || side.now >= expiryOf(effective.pair.cert))
    return samePair(effective, wanted) && includes(effective.ca, wanted.ca)
      ? narrow(side, effective, signer)
      : write(
          { ca: both, pair: wanted.pair },
          "nobody accepts the certificate in use, so that no order has to be kept",
        );
  if (!samePair(effective, wanted) && signerOf(wanted.pair.cert, effective.ca) === signer)
    return write({ ca: effective.ca, pair: wanted.pair }, "the certificate is renewed by the same CA");
  if (hasToRead(side, effective)) return readTheBundle;
  if (!includes(effective.ca, wanted.ca))
    return write(
      { ca: both, pair: effective.pair },
      "members have to trust the new CA before one presents a certificate of it",
    );
  if (samePair(effective, wanted)) return narrow(side, effective, signer);
  if (side.presented.some((one) => one !== signer)) return presentTheLeaf(signer);
  return write({ ca: effective.ca, pair: wanted.pair }, "every member trusts the CA of the new certificate");
}

/** The wanted leaf is in use. CAs that are not wanted go. */
function narrow(side: Side, effective: Bundle, signer: string | undefined): Next {
  const { wanted } = side;
  if (hasToRead(side, effective)) return readTheBundle;
  if (includes(wanted.ca, effective.ca)) return { t: "settled" };
  if (signer !== undefined && side.presented.some((one) => one !== signer)) return presentTheLeaf(signer);
  return write(wanted, "every member presents a certificate of the new CA");
}

const write = (bundle: Bundle, because: string): Next => ({ t: "write", bundle, because });

const readTheBundle: Next = {
  t: "waitForRoll",
  because: "etcd reads the CA when it starts, and not every member has read the current one",
};

const presentTheLeaf = (signer: string): Next => ({
  t: "waitForLeaf",
  signer,
  because: "not every member is known to present the current certificate",
});

const hasToRead = ({ trusted }: Side, effective: Bundle): boolean =>
  trusted.some((fingerprint) => fingerprint !== bundleFingerprint(effective.ca));

const samePair = (a: Bundle, b: Bundle): boolean => a.pair.cert === b.pair.cert && a.pair.key === b.pair.key;
