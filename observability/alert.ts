// What an alert is: the expression that finds a fault, and all that the person who is woken needs to know.

export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** How long it must hold before the alert fires, as in 5m. */
  readonly for: string;
  /** Critical: somebody is woken. Warning: on the same day. Info: when there is time. */
  readonly severity: "critical" | "warning" | "info";
  /** One line, with the labels of what it is about. */
  readonly summary: string;
  readonly description: string;
  readonly runbook: Runbook;
}

export interface Runbook {
  readonly meaning: string;
  readonly impact: string;
  readonly diagnosis: readonly Step[];
  readonly mitigation: readonly Step[];
}

/** What to do or to look for, and the commands for it. */
export interface Step {
  readonly say: string;
  readonly run?: readonly string[];
}

export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

/** Names an EtcdCluster in a summary. */
export const theCluster = "{{ $labels.namespace }}/{{ $labels.etcd_cluster }}";
/** Names an EtcdBackup in a summary. */
export const theBackup = "{{ $labels.namespace }}/{{ $labels.name }}";

/** A command of etcdctl to one member, also where none is healthy. The plugin finds the certificates: without TLS there are none. */
export const etcdctl = (words: string): string => `kubectl etcd ctl -n NAMESPACE --member POD CLUSTER ${words}`;

/** From the machine of the person: the image of a member has no program that could copy a file out of its pod. */
export const saveSnapshot: readonly Step[] = [
  {
    say: "Save a snapshot of a member's data through a forwarded port.",
    run: [
      "kubectl port-forward -n NAMESPACE POD 12379:2379 &",
      "etcdctl --endpoints=http://localhost:12379 snapshot save POD.db",
    ],
  },
  {
    say: "With TLS, this needs a client certificate: SECRET is the Secret that `status.clientSecret` names, or one of your own.",
    run: [
      `umask 077; for file in ca.crt tls.crt tls.key; do kubectl get secret SECRET -n NAMESPACE -o go-template="{{index .data \\"$file\\" | base64decode}}" > $file; done`,
      "kubectl port-forward -n NAMESPACE POD 12379:2379 &",
      "etcdctl --endpoints=https://localhost:12379 --cacert=ca.crt --cert=tls.crt --key=tls.key snapshot save POD.db",
    ],
  },
];

/** Steps with which most diagnoses begin. */
export const whatItSays: Step = {
  say: "The conditions say what is wrong and what to do; the events say what led to it.",
  run: ["kubectl describe etcd CLUSTER -n NAMESPACE", "kubectl events -n NAMESPACE --for etcdcluster/CLUSTER"],
};

export const whereMembersRun: Step = {
  say: "See which pods run, where, and how often they restarted.",
  run: ["kubectl get pods -n NAMESPACE -l etcd_cluster=CLUSTER -o wide"],
};

export const whatMembersLog: Step = {
  say: "Read why a member exited, and what it logs now.",
  run: ["kubectl logs -n NAMESPACE POD --previous --tail=50", "kubectl logs -n NAMESPACE POD --tail=50"],
};

export const whatTheOperatorLogs: Step = {
  say: "See what the operator is doing about it. It logs each decision with its reason.",
  run: ["kubectl logs -n OPERATOR_NAMESPACE deployment/etcd-operator --since=15m"],
};
