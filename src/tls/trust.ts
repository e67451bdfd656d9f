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
// - The leaf is not replaced by one of another CA, and no CA is dropped, before every member is known to present a
//   leaf of the CA that signs now. So there are leaves of two CAs at most, and both are trusted by all.
// A leaf may be replaced by one of the same CA at any time: who trusts the old one trusts the new one.
//
// How it is known that a member presents the new leaf: nothing says when a kubelet has brought a file, and waiting some
// minutes proves nothing about a node that was cut off. Proof is either a handshake with the member (`presented` from
// the wire; it takes no permissions in Kubernetes) or a pod that was made after the Secret was written (`presented` from
// its annotation). With proof from the wire a rotation takes two rolls. Where the port cannot be reached, members
// are rolled once more, between the two.
//
// A leaf that running members do not trust is written only where there is no other: neither the one that is wanted nor
// one of the CA before, whose key is kept for as long as its leaf is in use. Then members are apart, whatever is written:
// each has to be started again to read the CA, in place, and nobody's consent can be waited for.
import { addToBundle, bundleFingerprint, includes, isAnchored, signerOf } from "./ca-bundle.ts";
import type { Bundle, KeyPair } from "./pem.ts";
import { expiryOf } from "./validity.ts";

/** One side of the cluster: its peers. Towards clients see client-trust.ts. */
interface Side {
  /** What the pods mount now; undefined when there is nothing yet. */
  readonly effective: Bundle | undefined;
  /** What was given and is good, or what was made last. */
  readonly wanted: Bundle;
  /** What the CA before has signed last, while its key is kept. */
  readonly before?: Bundle | undefined;
  /** For each running member, the `anchorsIn` the bundle that it read. Undefined when nothing is known: it trusts what is there. */
  readonly anchors: readonly (string | undefined)[];
  /** For each running member, the `bundleFingerprint` of the bundle that was effective when its pod was made. */
  readonly trusted: readonly string[];
  /**
   * For each running member, the `signerOf` (in the effective bundle) the leaf that it presents: as seen on the wire in this
   * reconcile, else that of the leaf that was effective when its pod was made. Undefined when nothing is known.
   */
  readonly presented: readonly (string | undefined)[];
  readonly now: number;
}

export type Next =
  | { readonly t: "settled" }
  | { readonly t: "write"; readonly bundle: Bundle; readonly because: string }
  /** Every pod has to be recreated whose annotation is not the fingerprint of the effective bundle. */
  | { readonly t: "waitForRoll"; readonly because: string }
  /** Members do not trust the leaf that is there: each has to be started again, in place. */
  | { readonly t: "waitForRestart"; readonly because: string }
  /** Each member has to be seen with a leaf of this signer, or its pod recreated. */
  | { readonly t: "waitForLeaf"; readonly signer: string; readonly because: string };

export function nextBundle(side: Side): Next {
  const { effective, wanted } = side;
  if (!effective) return write(firstBundle(side), "there are no certificates yet");
  const { ca, pair } = effective;
  const signer = signerOf(pair.cert, ca);
  const isChanged = !isSamePair(pair, wanted.pair);
  const isOver = signer === undefined || (isChanged && side.now >= expiryOf(pair.cert));
  if (isOver || !isTrusted(side, effective)) {
    const { before } = side;
    const trusted = [wanted, before].find((one) => one && isUsable(side, one) && !isSamePair(one.pair, pair));
    if (trusted)
      return write({ ca: all(ca, wanted.ca, trusted.ca), pair: trusted.pair }, "every member trusts this certificate");
    if (isOver)
      return write({ ca: all(ca, wanted.ca), pair: wanted.pair }, "nobody accepts the certificate in use any more");
    return { t: "waitForRestart", because: "members do not trust the certificate in use, and are started again" };
  }
  if (isChanged && signerOf(wanted.pair.cert, ca) === signer)
    return write({ ca, pair: wanted.pair }, "the certificate is renewed by the same CA");
  const renewed = isChanged ? renewalBy(side.before, effective) : undefined;
  if (renewed) return write({ ca, pair: renewed }, "the certificate is renewed by the CA that members trust");
  const fingerprint = bundleFingerprint(ca);
  if (side.trusted.some((one) => one !== fingerprint))
    return {
      t: "waitForRoll",
      because: "etcd reads the CA when it starts, and not every member has read the current one",
    };
  if (!includes(ca, wanted.ca))
    return write(
      { ca: addToBundle(ca, wanted.ca), pair },
      "members have to trust the new CA before one presents a certificate of it",
    );
  if (!isChanged && includes(wanted.ca, ca)) return { t: "settled" };
  if (side.presented.some((one) => one !== signer))
    return { t: "waitForLeaf", signer, because: "not every member is known to present the current certificate" };
  return isChanged
    ? write({ ca, pair: wanted.pair }, "every member trusts the CA of the new certificate")
    : write(wanted, "every member presents a certificate of the new CA");
}

/** The Secret of members that run may be lost: then they get a certificate that they trust, if there is one. */
function firstBundle(side: Side): Bundle {
  const { wanted, before } = side;
  if (!before || isUsable(side, wanted) || !isUsable(side, before)) return wanted;
  return { ca: all(before.ca, wanted.ca), pair: before.pair };
}

const isUsable = (side: Side, bundle: Bundle): boolean =>
  side.now < expiryOf(bundle.pair.cert) && isTrusted(side, bundle);

/** By every running member, as far as is known. */
const isTrusted = ({ anchors }: Pick<Side, "anchors">, { ca, pair }: Bundle): boolean =>
  anchors.every((one) => one === undefined || isAnchored(pair.cert, ca, one));

/** Another certificate of the CA that the one in use is of, and no older one: it may have been made in the same second. */
export function renewalBy(before: Bundle | undefined, { ca, pair }: Bundle): KeyPair | undefined {
  if (!before || isSamePair(before.pair, pair) || expiryOf(before.pair.cert) < expiryOf(pair.cert)) return undefined;
  const signer = signerOf(pair.cert, ca);
  return signer !== undefined && signerOf(before.pair.cert, ca) === signer ? before.pair : undefined;
}

const all = (...bundles: readonly string[]): string => bundles.reduce(addToBundle, "");

const write = (bundle: Bundle, because: string): Next => ({ t: "write", bundle, because });

/** Whether it is the same certificate with the same key. */
export const isSamePair = (a: KeyPair, b: KeyPair): boolean => a.cert === b.cert && a.key === b.key;
