// What is said about certificates: in the status, in a condition, in events and in metrics. Dates and names of Secrets, never
// anything of a key.
import type { EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Conclusion } from "../../kube/objects/conditions.ts";
import { secondsTime } from "../../kube/objects/objects.ts";
import type { Assessment } from "../assess/assess.ts";
import { type CertificateInUse, clientChecksum } from "../assess/certificates.ts";
import { givenSecrets, type SecretUse, secretName, tlsOf } from "../objects/tls.ts";

export function certificateStatus({ certificates, world }: Assessment): EtcdClusterStatus {
  const checksum = tlsOf(world.cluster).made ? clientChecksum(world) : undefined;
  return {
    ...(certificates.inUse.length > 0 && {
      certificates: certificates.inUse.map(({ use, notAfter }) => ({ use, notAfter: secondsTime(new Date(notAfter)) })),
    }),
    ...(checksum !== undefined && {
      clientSecret: secretName(world.cluster, "client"),
      clientSecretChecksum: checksum,
    }),
  };
}

type Verdict = Pick<Conclusion, "status" | "reason" | "message">;

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
      reason: `${problem.t[0]?.toUpperCase()}${problem.t.slice(1)}`,
      message: [...problems.map(({ sentence }) => sentence), ...goesOn(assessment), ...expiring].join(" "),
    };
  if (inUse.some(({ warning }) => warning === "expired"))
    return { status: "False", reason: "Expired", message: expiring.join(" ") };
  if (expiring.length > 0) return { status: "True", reason: "ExpiresSoon", message: expiring.join(" ") };
  if (blocked !== undefined) return { status: "False", reason: "NotYet", message: `Not there yet: ${blocked}.` };
  if (waits !== undefined)
    return { status: "True", reason: "TakingOver", message: `Other certificates are taken over: ${waits}.` };
  return { status: "True", reason: "Valid", message: "" };
}

function goesOn({ certificates: { pods }, world }: Assessment): string[] {
  if (pods === undefined) return ["No member is made until that is corrected."];
  const serves = world.pods.length > 0;
  return serves ? ["It is not used: the cluster goes on with what it has."] : [];
}

const left = { "30d": "in less than 30 days", "7d": "in less than 7 days", "1d": "in less than a day" } as const;

export function expiringSentences({ certificates, world }: Assessment): readonly string[] {
  return certificates.inUse.flatMap((one) => {
    const { use, notAfter, warning, presentedBy } = one;
    if (warning === undefined) return [];
    const when = secondsTime(new Date(notAfter));
    const verb = warning === "expired" ? `expired at ${when}` : `expires ${left[warning]}, at ${when}`;
    if (presentedBy !== undefined)
      return [
        `The ${use} certificate that ${presentedBy} presents ${verb}: its pod has yet to get the one in ${secretName(world.cluster, use)}.`,
      ];
    return [`The ${use} certificate ${verb}${adviceOn(world.cluster, one)}.`];
  });
}

function adviceOn(cluster: Assessment["world"]["cluster"], { use }: CertificateInUse): string {
  const name = isGiven(use) ? givenSecrets(cluster)[use] : "";
  return name === "" ? "" : `: renew it in the Secret ${name}`;
}

const isGiven = (use: SecretUse): use is "peer" | "server" | "operator" =>
  use === "peer" || use === "server" || use === "operator";
