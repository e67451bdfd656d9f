// Alerts about certificates that expire, or cannot be used.
import { type Alert, type Step, theCluster } from "../alert.ts";
import { ofCluster } from "../expressions.ts";
import { warnings } from "../../src/tls/validity.ts";

const day = 86_400;

const least = (metric: string, matchers: string): string =>
  `min by (namespace, etcd_cluster, use) (etcd_operator_cluster_certificate_${metric}_seconds${matchers})`;

/** What the operator makes, it renews with a third of its life to go: only what a person gives needs so early a word. */
const given = '{source="given"}';

const whatTheySay: Step = {
  say: "See which certificates are in use, when each expires, and what the operator reports about them.",
  run: [
    "kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.certificates}'",
    `kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type=="CertificatesValid")].message}'`,
  ],
};

const renew: readonly Step[] = [
  {
    say: "A certificate that you provide (`spec.TLS.static`): renew it in its Secret, or find out why cert-manager does not. The operator uses the new one without a restart.",
    run: [
      "kubectl get secret SECRET -n NAMESPACE -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout -enddate -subject",
    ],
  },
  {
    say: "A certificate that the operator creates (`spec.TLS.auto`) is renewed when a third of its lifetime is left: find out why it was not.",
    run: ["kubectl logs -n OPERATOR_NAMESPACE deployment/etcd-operator --since=1h"],
  },
  { say: "See [security.md](../security.md) for details." },
];

const shares = { "30d": "a quarter", "7d": "a tenth", "1d": "a twentieth" } as const;

const soon = (name: string, level: keyof typeof shares, severity: Alert["severity"], when: string, of = ""): Alert => ({
  name,
  expr: `${least("expiry", of)} - time() < ${bound(level, of)}`,
  for: "15m",
  severity,
  summary: `The {{ $labels.use }} certificate of etcd ${theCluster} expires in less than ${when}.`,
  description: "It expires in {{ $value | humanizeDuration }}. A negative duration means that it has expired.",
  runbook: {
    meaning: `A certificate that members or the operator present expires in less than ${when}, and in less than ${shares[level]} of its lifetime.${severity === "info" ? " The alert covers only certificates that you provide: the operator renews its own when a third of their lifetime is left." : ""}`,
    impact: "Once it has expired, connections are refused: between members, which costs the quorum, or from clients.",
    diagnosis: [whatTheySay],
    mitigation: renew,
  },
});

/** In days, and never more than a share of its life: one of 24 hours always has less than a week to go. */
function bound(level: keyof typeof shares, of: string): string {
  const { days, share } = warnings.find(({ at }) => at === level) ?? { days: 0, share: 0 };
  return `clamp_max(${least("lifetime", of)} * ${share}, ${days} * ${day})`;
}

export const certificateAlerts: readonly Alert[] = [
  soon("EtcdCertificateExpiresInAMonth", "30d", "info", "30 days", given),
  soon("EtcdCertificateExpiresInAWeek", "7d", "warning", "7 days"),
  soon("EtcdCertificateExpiresInADay", "1d", "critical", "a day"),
  {
    name: "EtcdCertificateProblem",
    expr: `${ofCluster("etcd_operator_cluster_certificate_problems")} > 0`,
    for: "10m",
    severity: "warning",
    summary: `A certificate for etcd ${theCluster} cannot be used.`,
    description: `{{ $value }} Secrets named in spec.TLS of ${theCluster} cannot be used. The cluster continues with its current certificates.`,
    runbook: {
      meaning:
        "A Secret named in `spec.TLS` is missing, or contains a certificate that cannot be used: it has expired, is for other names, was signed by another CA, or does not match its key.",
      impact: "The cluster continues with its current certificates until they expire. A new cluster gets no members.",
      diagnosis: [whatTheySay],
      mitigation: [
        {
          say: "The message names the Secret and what is wrong with it: correct the Secret. The operator notices immediately.",
        },
        { say: "[security.md](../security.md) says which names a certificate needs." },
      ],
    },
  },
];
