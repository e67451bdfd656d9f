// Alerts about certificates that expire, or cannot be used.
import { type Alert, type Step, theCluster } from "../alert.ts";
import { ofCluster } from "../expressions.ts";

const day = 86_400;

/** What the operator makes, it renews with thirty days to go: only what a person gives needs so early a word. */
const left = (...matchers: string[]): string =>
  `min by (namespace, etcd_cluster, use) (etcd_operator_cluster_certificate_expiry_seconds${matchers.length > 0 ? `{${matchers.join(",")}}` : ""}) - time()`;

const whatTheySay: Step = {
  say: "See which certificates are in use, when each expires, and what the operator says about them.",
  run: [
    "kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.certificates}'",
    `kubectl get etcd CLUSTER -n NAMESPACE -o jsonpath='{.status.conditions[?(@.type=="CertificatesValid")].message}'`,
  ],
};

const renew: readonly Step[] = [
  {
    say: "A certificate that you give (`spec.TLS.static`): renew it in its Secret, or see why cert-manager does not. The operator takes it over without a restart.",
    run: [
      "kubectl get secret SECRET -n NAMESPACE -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout -enddate -subject",
    ],
  },
  {
    say: "A certificate that the operator makes (`spec.TLS.auto`) is renewed when a third of its life is left: see why it was not.",
    run: ["kubectl logs -n OPERATOR_NAMESPACE deployment/etcd-operator --since=1h"],
  },
  { say: "[security.md](../security.md) says more." },
];

const soon = (name: string, days: number, severity: Alert["severity"], when: string, expr: string): Alert => ({
  name,
  expr: `${expr} < ${days} * ${day}`,
  for: "15m",
  severity,
  summary: `The {{ $labels.use }} certificate of etcd ${theCluster} expires in less than ${when}.`,
  description: "It is valid for another {{ $value | humanizeDuration }}. A negative time: it has expired.",
  runbook: {
    meaning: `A certificate that members or the operator present is valid for less than ${when}.${severity === "info" ? " Only certificates that you give are meant: the operator renews its own with thirty days to go." : ""}`,
    impact: "When it has expired, connections are refused: between members, which costs the quorum, or from clients.",
    diagnosis: [whatTheySay],
    mitigation: renew,
  },
});

export const certificateAlerts: readonly Alert[] = [
  soon("EtcdCertificateExpiresInAMonth", 30, "info", "30 days", left('source="given"')),
  soon("EtcdCertificateExpiresInAWeek", 7, "warning", "7 days", left()),
  soon("EtcdCertificateExpiresInADay", 1, "critical", "a day", left()),
  {
    name: "EtcdCertificateProblem",
    expr: `${ofCluster("etcd_operator_cluster_certificate_problems")} > 0`,
    for: "10m",
    severity: "warning",
    summary: `A certificate for etcd ${theCluster} cannot be used.`,
    description: `{{ $value }} Secrets that spec.TLS of ${theCluster} names cannot be used. The cluster goes on with the certificates that it has.`,
    runbook: {
      meaning:
        "A Secret that `spec.TLS` names is missing, or has a certificate that cannot be used: expired, for other names, of another CA, with another key.",
      impact: "The cluster goes on with what it has, until that expires. A new cluster gets no members.",
      diagnosis: [whatTheySay],
      mitigation: [
        {
          say: "The message names the Secret and what is wrong with it: correct the Secret. The operator sees it at once.",
        },
        { say: "[security.md](../security.md) says which names a certificate needs." },
      ],
    },
  },
];
