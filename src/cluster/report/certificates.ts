// What is said about certificates: in the status, in a condition, in events and in metrics. Dates and names of Secrets, never
// anything of a key.
import type { VerdictOn } from "../../api/conditions.ts";
import type { EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import { secondsTime } from "../../kube/objects/objects.ts";
import type { Assessment } from "../assess/assess.ts";
import { type CertificateInUse, clientChecksum, clientSecretOpens } from "../assess/certificates/certificates.ts";
import type { CertificateProblem } from "../assess/certificates/wanted-certificates.ts";
import { authorityUses, givenSecrets, leafUses, type SecretUse, secretName, tlsOf } from "../objects/tls.ts";

export function certificateStatus({ certificates, world }: Assessment): EtcdClusterStatus {
  // One that opens no door yet is not named: members have to trust its CA first.
  const checksum = tlsOf(world.cluster).made && clientSecretOpens(world) ? clientChecksum(world) : undefined;
  return {
    ...(certificates.inUse.length > 0 && {
      certificates: certificates.inUse.map(({ use, notAfter, notBefore }) => ({
        use,
        notAfter: secondsTime(new Date(notAfter)),
        notBefore: secondsTime(new Date(notBefore)),
      })),
    }),
    ...(checksum !== undefined && {
      clientSecret: secretName(world.cluster, "client"),
      clientSecretChecksum: checksum,
    }),
  };
}

type Verdict = VerdictOn<"EtcdCluster", "CertificatesValid">;

const reasonsOfProblems = {
  missing: "Missing",
  forbidden: "Forbidden",
  unread: "Unread",
  incomplete: "Incomplete",
  unreadable: "Unreadable",
  mismatched: "Mismatched",
  untrusted: "Untrusted",
  expired: "Expired",
  notYetValid: "NotYetValid",
  wrongNames: "WrongNames",
  wrongUse: "WrongUse",
} as const satisfies Readonly<Record<CertificateProblem["t"], Verdict["reason"]>>;

/** Undefined for a cluster without TLS. */
export function certificatesValid(assessment: Assessment): Verdict | undefined {
  const { certificates, world } = assessment;
  const { problems, inUse, blocked } = certificates;
  const changes = certificates.toMake.length > 0 || certificates.writes.size > 0;
  const waits = certificates.waits ?? (changes ? "Secrets are being written" : undefined);
  const asked = tlsOf(world.cluster);
  if (!asked.peer && !asked.client && inUse.length === 0) return undefined;
  const expiring = expiringSentences(assessment);
  const [problem] = problems;
  if (problem !== undefined)
    return {
      status: "False",
      reason: reasonsOfProblems[problem.t],
      message: [
        ...problems.map(({ sentence }) => sentence),
        ...damagedSentences(assessment),
        ...goesOn(assessment),
        ...expiring,
      ].join(" "),
    };
  const lost = lostSentence(assessment);
  if (lost !== undefined) return { status: "False", reason: "Missing", message: [lost, ...expiring].join(" ") };
  const apart = apartSentence(assessment);
  if (apart !== undefined) return { status: "False", reason: "MembersApart", message: [apart, ...expiring].join(" ") };
  const damaged = damagedSentences(assessment);
  if (damaged.length > 0) return { status: "False", reason: "Damaged", message: [...damaged, ...expiring].join(" ") };
  if (inUse.some(({ warning }) => warning === "expired"))
    return { status: "False", reason: "Expired", message: expiring.join(" ") };
  if (expiring.length > 0) return { status: "True", reason: "ExpiresSoon", message: expiring.join(" ") };
  if (blocked !== undefined) return { status: "False", reason: "NotYet", message: `Not there yet: ${blocked}.` };
  if (waits !== undefined)
    return { status: "True", reason: "TakingOver", message: `Certificates are being changed: ${waits}.` };
  return { status: "True", reason: "Valid", message: "" };
}

/** Names members that trust another CA than that of the certificates in use, and what is done about it. */
export function apartSentence({
  certificates: { apart },
  desired,
  world: { cluster },
}: Assessment): string | undefined {
  if (apart.length === 0) return undefined;
  const names = apart.map(({ pod }) => pod.name).join(", ");
  const what = `${names}: etcd started with another CA than that of the certificates in use, so it refuses other members or the operator.`;
  if (cluster.spec.paused)
    return `${what} The cluster is paused, so nothing is done about it: set spec.paused to false.`;
  if (desired.impossible !== undefined) return `${what} Nothing is done about it until the spec is correct.`;
  return `${what} They are started again in their pods, one after another, and keep their data.`;
}

/** Names Secrets that were lost, and are not written while nobody may start the members again. */
function lostSentence({ certificates: { setsApart }, desired, world: { cluster } }: Assessment): string | undefined {
  const { paused } = cluster.spec;
  if (setsApart.size === 0 || (!paused && desired.impossible === undefined)) return undefined;
  const names = [...setsApart].map((use) => secretName(cluster, use)).join(", ");
  const cure = paused ? "set spec.paused to false" : "correct the spec";
  return `Secrets are missing: ${names}. Members continue with their current certificates; new ones need a new CA and a restart of each member. For that, ${cure}.`;
}

/** What keeps members from each other although they run; undefined: nothing that is known of certificates. */
export function keptApartBy(assessment: Assessment): string | undefined {
  const expired = assessment.certificates.inUse.filter(({ warning }) => warning === "expired");
  const sentences = expired.flatMap((one) => expirySentence(assessment, one));
  return apartSentence(assessment) ?? (sentences.length > 0 ? sentences.join(" ") : undefined);
}

/** Names those Secrets of the operator that it has nothing to repair with. */
function damagedSentences({ certificates: { toMake, writes }, world: { cluster, tls } }: Assessment): string[] {
  const { made } = tlsOf(cluster);
  return [...leafUses, ...authorityUses].flatMap((use): string[] => {
    const damage = tls.damaged[use];
    const isNeeded = made || isGiven(use);
    const isRepaired =
      toMake.some(({ authority }) => authority === use) || [...writes.keys()].some((one) => one === use);
    if (damage === undefined || !isNeeded || isRepaired) return [];
    return [
      `The Secret ${secretName(cluster, use)} was damaged: ${damage.why}. The operator writes it again as soon as it has what belongs in it.`,
    ];
  });
}

function goesOn({ certificates: { pods }, world }: Assessment): string[] {
  if (pods === undefined) return ["No member is created until that is corrected."];
  const serves = world.pods.length > 0;
  return serves ? ["It is not used: the cluster continues with its current certificates."] : [];
}

const left = { "30d": "in less than 30 days", "7d": "in less than 7 days", "1d": "in less than a day" } as const;

export function expiringSentences(assessment: Assessment): readonly string[] {
  return assessment.certificates.inUse.flatMap((one) => expirySentence(assessment, one));
}

function expirySentence({ world }: Assessment, one: CertificateInUse): readonly string[] {
  const { use, notAfter, warning, presentedBy } = one;
  if (warning === undefined) return [];
  const when = secondsTime(new Date(notAfter));
  const verb = warning === "expired" ? `expired at ${when}` : `expires ${left[warning]}, at ${when}`;
  if (presentedBy !== undefined)
    return [
      `The ${use} certificate that ${presentedBy} presents ${verb}: its pod does not have the one in ${secretName(world.cluster, use)} yet.`,
    ];
  return [`The ${use} certificate ${verb}${renewalAdvice(world.cluster, one)}.`];
}

function renewalAdvice(cluster: Assessment["world"]["cluster"], { use }: CertificateInUse): string {
  const name = isGiven(use) ? givenSecrets(cluster)[use] : "";
  return name === "" ? "" : `: renew it in the Secret ${name}`;
}

const isGiven = (use: SecretUse): use is "peer" | "server" | "operator" =>
  use === "peer" || use === "server" || use === "operator";
