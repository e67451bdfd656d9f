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
//
// The grace ends well before the server leaf does. A client that members do not trust, or that does not trust them, as
// after a lost Secret, gets what opens the door if there is anything; else members are started again, as in trust.ts.
import { addToBundle, bundleFingerprint, includes, isAnchored, signerOf } from "./ca-bundle.ts";
import { type Bundle, certificatesIn, type KeyPair } from "./pem.ts";
import { isSamePair, renewalBy } from "./trust.ts";
import { expiryOf, replaceBy } from "./validity.ts";

/** One effective Secret: what it has and what it shall have. `ca` is that of the other party. */
interface Party {
  readonly effective: Bundle | undefined;
  readonly wanted: Bundle;
  /** What the CA before has signed last, while its key is kept, and that CA. */
  readonly before?: Bundle | undefined;
}

interface Applications extends Party {
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
  /** For each running member, as in `Side`. */
  readonly anchors: readonly (string | undefined)[];
  /** For each running member, as in `Side`; `presented` with `signerOf(leaf, operator.effective.ca)`. */
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
  /** Members do not trust what a client presents: each has to be started again, in place. */
  | { readonly t: "waitForRestart"; readonly because: string }
  | { readonly t: "waitForLeaf"; readonly signer: string; readonly because: string }
  | { readonly t: "waitForApplications"; readonly until: number; readonly because: string }
  /** Given certificates that can never work with one another. `checkBundle` with `signedBy` says so before. */
  | { readonly t: "contradiction"; readonly because: string };

export function nextOnClientSide(side: ClientSide): ClientNext {
  const { operator, applications } = side;
  const [missing] = firstOnClientSide(side);
  if (missing) return missing;
  const server = readable(side.server.effective);
  const clients: Client[] = [];
  for (const [secret, party] of [["operator", operator] as const, ["applications", applications] as const]) {
    const effective = readable(party?.effective);
    if (party && effective) clients.push({ secret, effective, wanted: party.wanted, before: party.before });
  }
  if (!server) return { t: "settled" };
  const now: Now = { ...side, serverNow: server, clients };
  return (
    contradiction(now) ??
    renewBySameCa(now) ??
    letClientsIn(now) ??
    widenClients(now) ??
    widenMembers(now) ??
    changeClientLeaves(now) ??
    changeServerLeaf(now) ??
    narrowMembers(now) ??
    narrowClients(now) ?? { t: "settled" }
  );
}

/** What is written for those that have nothing, in any order: what members that run and clients that are there trust, if there is such. */
export function firstOnClientSide(side: ClientSide): readonly Extract<ClientNext, { t: "write" }>[] {
  const { server, operator, applications } = side;
  const [serverNow, operatorNow, applicationsNow] = [server, operator, applications].map((one) =>
    readable(one?.effective),
  );
  const writes: Extract<ClientNext, { t: "write" }>[] = [];
  if (!serverNow) {
    const clients = [operatorNow, applicationsNow].flatMap((one) => (one ? [one.ca] : []));
    const isTaken = ({ pair }: Bundle): boolean => clients.every((ca) => signerOf(pair.cert, ca) !== undefined);
    writes.push(write("server", firstOf(side, server, isTaken), "there is no server certificate yet"));
  }
  for (const [secret, party] of [["operator", operator] as const, ["applications", applications] as const]) {
    if (!party || readable(party.effective)) continue;
    const first = firstOf(side, party, (one) => isLetIn(side, one.pair, party));
    // Members may present a certificate of another CA for a while, as one that was given.
    const opens = !serverNow || signerOf(serverNow.pair.cert, first.ca) !== undefined;
    const other = secret === "operator" ? applicationsNow : operatorNow;
    const ca = opens || !other ? first.ca : addToBundle(first.ca, other.ca);
    writes.push(write(secret, { ...first, ca }, "there is no client certificate yet", "startsGrace"));
  }
  return writes;
}

/** The one that is wanted, or one of the CA before if only that is taken. */
function firstOf({ now }: ClientSide, { wanted, before }: Party, isTaken: (bundle: Bundle) => boolean): Bundle {
  if (!before) return wanted;
  const ca = addToBundle(wanted.ca, before.ca);
  const isOfUse = now < expiryOf(before.pair.cert) && isTaken(before) && !isTaken(wanted);
  return isOfUse ? { ca, pair: before.pair } : wanted;
}

/** By every running member, as far as is known. */
function isLetIn({ anchors, server }: ClientSide, { cert }: KeyPair, party: Pick<Party, "before">): boolean {
  const known = [server.effective?.ca, server.wanted.ca, server.before?.ca, party.before?.ca];
  const cas = known.reduce<string>((all, ca) => (ca ? addToBundle(all, ca) : all), "");
  return anchors.every((one) => one === undefined || isAnchored(cert, cas, one));
}

/** What somebody damaged in a Secret of the operator is as good as nothing. */
const readable = (bundle: Bundle | undefined): Bundle | undefined =>
  bundle && certificatesIn(bundle.ca) && certificatesIn(bundle.pair.cert) ? bundle : undefined;

interface Client {
  readonly secret: "operator" | "applications";
  readonly effective: Bundle;
  readonly wanted: Bundle;
  readonly before: Bundle | undefined;
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
const renewBySameCa: Rule = (side) => {
  const { serverNow, server, clients, now } = side;
  const because = "the certificate is renewed by the same CA, or has expired";
  const renewal = (old: Bundle, { wanted, before }: Omit<Party, "effective">, trust: readonly string[]) => {
    if (isSamePair(old.pair, wanted.pair)) return undefined;
    const isOfSameCa = trust.every((ca) => {
      const signer = signerOf(old.pair.cert, ca);
      return signer !== undefined && signerOf(wanted.pair.cert, ca) === signer;
    });
    if (isOfSameCa) return wanted.pair;
    const renewed = trust.map((ca) => renewalBy(before, { ca, pair: old.pair }));
    if (renewed.length > 0 && renewed.every((one) => one !== undefined)) return renewed[0];
    return now >= expiryOf(old.pair.cert) ? wanted.pair : undefined;
  };
  for (const { secret, effective, wanted, before } of clients) {
    const pair = renewal(effective, { wanted, before }, [serverNow.ca]);
    if (pair) return write(secret, { ...effective, pair }, because);
  }
  const cas = clients.map(({ effective }) => effective.ca);
  const pair = renewal(serverNow, server, cas);
  return pair && write("server", { ...serverNow, pair }, because);
};

/** Whom members refuse, or who refuses members: a Secret was lost, or is an older one. */
const letClientsIn: Rule = (side) => {
  const { serverNow, server, clients, now } = side;
  for (const client of clients) {
    const { secret, effective, wanted, before } = client;
    if (signerOf(serverNow.pair.cert, effective.ca) === undefined) {
      const others = [wanted.ca, before?.ca, ...clients.map((one) => one.effective.ca)];
      const ca = others.find((one) => one && signerOf(serverNow.pair.cert, one) !== undefined);
      if (ca)
        return write(secret, { ...effective, ca: addToBundle(effective.ca, ca) }, "it lacks the CA of the servers");
      if (!isSamePair(serverNow.pair, server.wanted.pair))
        return write("server", { ...serverNow, pair: server.wanted.pair }, "clients do not trust the one in use");
    }
    // Applications get theirs in order, by a roll: the operator is there to see to it.
    if (secret !== "operator" || isLetIn(side, effective.pair, client)) continue;
    const taken = [wanted, before].find(
      (one) =>
        one &&
        !isSamePair(one.pair, effective.pair) &&
        now < expiryOf(one.pair.cert) &&
        isLetIn(side, one.pair, client),
    );
    if (taken) return write(secret, { ...effective, pair: taken.pair }, "every member trusts this certificate");
    // What they read when they start has to let it in.
    if (!includes(serverNow.ca, server.wanted.ca))
      return write(
        "server",
        { ...serverNow, ca: addToBundle(serverNow.ca, server.wanted.ca) },
        "members have to trust the CA of their clients when they start again",
      );
    return { t: "waitForRestart", because: "members do not trust the operator's certificate, and are started again" };
  }
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
    applicationsHaveTime(side, replaceBy(serverNow.pair.cert)) ??
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

function applicationsHaveTime(
  { applications, now }: Pick<Now, "applications" | "now">,
  latest = Number.POSITIVE_INFINITY,
): ClientNext | undefined {
  const until = Math.min(applications ? applications.changedAt + applications.grace : now, latest);
  return now >= until
    ? undefined
    : { t: "waitForApplications", until, because: "applications have time to take over their new certificate and CA" };
}

const presentTheLeaf: Rule = ({ serverNow, operator, presented }) => {
  const signer = signerOf(serverNow.pair.cert, (operator.effective ?? operator.wanted).ca);
  // One that nobody trusts holds up nothing.
  if (signer === undefined || presented.every((one) => one === signer)) return undefined;
  return { t: "waitForLeaf", signer, because: "not every member is known to present the current server certificate" };
};

function write(
  secret: ClientSecret,
  bundle: Bundle,
  because: string,
  grace?: "startsGrace",
): Extract<ClientNext, { t: "write" }> {
  return { t: "write", secret, bundle, startsGrace: secret === "applications" && grace !== undefined, because };
}
