// The order in which members, the operator and applications take over a changed CA of client TLS, so that every client
// can connect to every member at any time. Pure, like trust.ts, whose comment says what members do and what is known.
//
// Here two kinds of parties trust each other: members trust the CA of clients (read once, at start) and present the
// server leaf (brought by the kubelet at any later moment); clients trust the CA of servers and present a client leaf.
// The operator takes what is in its effective Secret at its next connection. Applications read theirs when they like: they
// have `grace` for it. With the life of a certificate as grace, nobody is shut out who would not be without a
// rotation: an application that has not read its Secret for so long has an expired certificate anyway.
//
// Order: clients trust both; members trust both, roll; client leaves; (grace) server leaf, wait until it is presented;
// members trust the new CA only, roll; clients trust the new CA only.
import { addToBundle, bundleFingerprint, includes, signerOf } from "./ca-bundle.ts";
import { type Bundle, certificatesIn } from "./pem.ts";
import { isSamePair } from "./trust.ts";
import { expiryOf } from "./validity.ts";

/** One effective Secret: what it has and what it shall have. `ca` is that of the other party. */
export interface Party {
  readonly effective: Bundle | undefined;
  readonly wanted: Bundle;
}

export interface Applications extends Party {
  /** When a `write` for them was done last (`startsGrace`), in ms since 1970. */
  readonly changedAt: number;
  /** In ms. The life of a certificate for a rotation that has time. */
  readonly grace: number;
}

export interface ClientSide {
  readonly server: Party;
  /** Also for given certificates: a person changes both Secrets at once, and members take over slowly. */
  readonly operator: Party;
  /** Only where the operator makes their certificate. */
  readonly applications?: Applications;
  /** Of each running member, as in `Side`; `presented` with `signerOf(leaf, operator.effective.ca)`. */
  readonly trusted: readonly string[];
  readonly presented: readonly (string | undefined)[];
  readonly now: number;
}

export type ClientSecret = "server" | "operator" | "applications";

export type ClientNext =
  | { readonly t: "settled" }
  | {
      readonly t: "write";
      readonly secret: ClientSecret;
      readonly bundle: Bundle;
      /** Note the time at the Secret: it is `changedAt` from now on. */
      readonly startsGrace: boolean;
      readonly because: string;
    }
  | { readonly t: "waitForRoll"; readonly because: string }
  | { readonly t: "waitForLeaf"; readonly signer: string; readonly because: string }
  | { readonly t: "waitForApplications"; readonly until: number; readonly because: string }
  /** Given certificates that can never work with one another. `checkBundle` with `signedBy` says so before. */
  | { readonly t: "contradiction"; readonly because: string };

export function nextOnClientSide(side: ClientSide): ClientNext {
  const { operator, applications } = side;
  const server = readable(side.server.effective);
  if (!server) return write("server", side.server.wanted, "there is no server certificate yet");
  const clients: Client[] = [];
  for (const [secret, party] of [["operator", operator] as const, ["applications", applications] as const]) {
    if (!party) continue;
    const effective = readable(party.effective);
    if (!effective) return write(secret, party.wanted, "there is no client certificate yet", "startsGrace");
    clients.push({ secret, effective, wanted: party.wanted });
  }
  const now: Now = { ...side, serverNow: server, clients };
  return (
    contradiction(now) ??
    renewBySameCa(now) ??
    widenClients(now) ??
    widenMembers(now) ??
    changeClientLeaves(now) ??
    changeServerLeaf(now) ??
    narrowMembers(now) ??
    narrowClients(now) ?? { t: "settled" }
  );
}

/** What somebody damaged in a Secret of the operator is as good as nothing. */
const readable = (bundle: Bundle | undefined): Bundle | undefined =>
  bundle && certificatesIn(bundle.ca) && certificatesIn(bundle.pair.cert) ? bundle : undefined;

interface Client {
  readonly secret: "operator" | "applications";
  readonly effective: Bundle;
  readonly wanted: Bundle;
}

interface Now extends ClientSide {
  readonly serverNow: Bundle;
  readonly clients: readonly Client[];
}

type Rule = (now: Now) => ClientNext | undefined;

const contradiction: Rule = ({ server, clients }) => {
  for (const { secret, wanted } of clients) {
    if (signerOf(server.wanted.pair.cert, wanted.ca) === undefined)
      return { t: "contradiction", because: `the CA of the ${secret} certificate has not signed that of servers` };
    if (signerOf(wanted.pair.cert, server.wanted.ca) === undefined)
      return { t: "contradiction", because: `the CA of servers has not signed the ${secret} certificate` };
  }
  return undefined;
};

/** At any time: who trusts the old one trusts the new one. An expired one is replaced in any case. */
const renewBySameCa: Rule = ({ serverNow, server, clients, now }) => {
  const because = "the certificate is renewed by the same CA, or has expired";
  const mayReplace = (old: Bundle, wanted: Bundle, trust: readonly string[]): boolean =>
    !isSamePair(old.pair, wanted.pair) &&
    (now >= expiryOf(old.pair.cert) ||
      trust.every((ca) => {
        const signer = signerOf(old.pair.cert, ca);
        return signer !== undefined && signerOf(wanted.pair.cert, ca) === signer;
      }));
  for (const { secret, effective, wanted } of clients)
    if (mayReplace(effective, wanted, [serverNow.ca]))
      return write(secret, { ...effective, pair: wanted.pair }, because);
  if (
    mayReplace(
      serverNow,
      server.wanted,
      clients.map(({ effective }) => effective.ca),
    )
  )
    return write("server", { ...serverNow, pair: server.wanted.pair }, because);
  return undefined;
};

const widenClients: Rule = ({ clients }) => {
  for (const { secret, effective, wanted } of clients)
    if (!includes(effective.ca, wanted.ca))
      return write(
        secret,
        { ...effective, ca: addToBundle(effective.ca, wanted.ca) },
        "clients have to trust the new CA before a member presents a certificate of it",
        "startsGrace",
      );
  return undefined;
};

const widenMembers: Rule = ({ serverNow, server, trusted }) => {
  const current = bundleFingerprint(serverNow.ca);
  if (trusted.some((fingerprint) => fingerprint !== current))
    return {
      t: "waitForRoll",
      because: "etcd reads the CA of clients when it starts, and not every member has read the current one",
    };
  if (includes(serverNow.ca, server.wanted.ca)) return undefined;
  const ca = addToBundle(serverNow.ca, server.wanted.ca);
  return write(
    "server",
    { ...serverNow, ca },
    "members have to trust the new CA before a client presents a certificate of it",
  );
};

const changeClientLeaves: Rule = ({ clients }) => {
  for (const { secret, effective, wanted } of clients)
    if (!isSamePair(effective.pair, wanted.pair))
      return write(
        secret,
        { ...effective, pair: wanted.pair },
        "every member trusts the CA of the new certificate",
        "startsGrace",
      );
  return undefined;
};

const changeServerLeaf: Rule = (side) => {
  const { serverNow, server } = side;
  if (isSamePair(serverNow.pair, server.wanted.pair)) return undefined;
  return (
    applicationsHaveTime(side) ??
    presentTheLeaf(side) ??
    write("server", { ...serverNow, pair: server.wanted.pair }, "every client trusts the CA of the new certificate")
  );
};

const narrowMembers: Rule = (side) => {
  const { serverNow, server } = side;
  if (includes(server.wanted.ca, serverNow.ca)) return undefined;
  return (
    applicationsHaveTime(side) ?? write("server", server.wanted, "every client presents a certificate of the new CA")
  );
};

const narrowClients: Rule = (side) => {
  const tooWide = side.clients.find(({ effective, wanted }) => !includes(wanted.ca, effective.ca));
  if (!tooWide) return undefined;
  return (
    presentTheLeaf(side) ?? write(tooWide.secret, tooWide.wanted, "every member presents a certificate of the new CA")
  );
};

const applicationsHaveTime: Rule = ({ applications, now }) => {
  const until = applications ? applications.changedAt + applications.grace : now;
  return now >= until
    ? undefined
    : { t: "waitForApplications", until, because: "applications have time to take over their new certificate and CA" };
};

const presentTheLeaf: Rule = ({ serverNow, operator, presented }) => {
  const signer = signerOf(serverNow.pair.cert, (operator.effective ?? operator.wanted).ca);
  // One that nobody trusts holds up nothing.
  if (signer === undefined || presented.every((one) => one === signer)) return undefined;
  return { t: "waitForLeaf", signer, because: "not every member is known to present the current server certificate" };
};

function write(secret: ClientSecret, bundle: Bundle, because: string, grace?: "startsGrace"): ClientNext {
  return { t: "write", secret, bundle, startsGrace: secret === "applications" && grace !== undefined, because };
}
