// All that the doctor checks, in the order in which it is reported: what stops the cluster first.
import { type EtcdCluster, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type EventReason, eventReasons } from "../../api/events.ts";
import { scopeAnnotation } from "../../api/scope.ts";
import { minors, whyBad } from "../../etcd/versions/steps.ts";
import { compareVersions, formatVersion, parseVersion, sameMinor } from "../../etcd/versions/version.ts";
import { claimLabel } from "../../cluster/objects/claims.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import { ageInWords, plural } from "../screen/words.ts";
import { lastSeen, valueOr } from "../observe/observe.ts";
import { noOperatorSentence } from "../view/cluster-view.ts";
import type { MemberView } from "../view/members.ts";
import { examineBackups } from "./backups.ts";
import { type Examination, type Finding, note, serious, warning } from "./finding.ts";
import { examineReadiness } from "./readiness.ts";

const examineOperator: Examination = ({ name, ready }, { cluster, operator }) => {
  const { metadata, spec, status } = withDefaults(cluster);
  const missing = noOperatorSentence(valueOr(operator, { t: "unknown" }));
  // Before the first reconcile, the sentence says so.
  if (missing !== undefined && ready.status !== "Unknown")
    return [
      serious(
        `No operator heals, scales or backs up this cluster. ${missing}`,
        "kubectl get pods -A -l name=etcd-operator",
      ),
    ];
  const paused = spec.paused
    ? [warning("The cluster is paused: the operator does not heal, scale or update it.", `kubectl etcd resume ${name}`)]
    : [];
  const isBehind = metadata.generation !== undefined && (status.observedGeneration ?? 0) < metadata.generation;
  return isBehind
    ? [
        ...paused,
        warning(
          `The operator has not acted on the last edit. If this persists, it does not run or cannot read this namespace${unannotated(cluster)}.`,
          "kubectl get deployments -A -l name=etcd-operator",
        ),
      ]
    : paused;
};

const unannotated = ({ metadata }: EtcdCluster): string =>
  metadata?.annotations?.[scopeAnnotation] === undefined
    ? `; an operator for all namespaces ignores the cluster without the annotation ${scopeAnnotation}: clusterwide`
    : "";

const examineCertificates: Examination = ({ certificates, name }, { cluster }) => {
  const isMade = withDefaults(cluster).spec.TLS?.auto === true;
  const command = isMade ? `kubectl describe etcd ${name}` : "kubectl get secrets";
  const who = isMade ? "The operator should have renewed it" : "Renew it in its Secret (docs/security.md)";
  return certificates.flatMap(({ use, daysLeft, notAfter, warning: level }) => {
    if (level === undefined || (isMade && level === "30d")) return [];
    const soon = daysLeft === 0 ? `expires at ${notAfter}` : `expires in ${plural(daysLeft, "day")}`;
    const when = daysLeft < 0 ? `expired on ${notAfter}` : soon;
    return [(level === "30d" ? warning : serious)(`The ${use} certificate ${when}. ${who}.`, command)];
  });
};

const fragmentedFrom = 100 * 1024 ** 2;

const examineSpace: Examination = ({ database, name, ready }) => {
  if (database === undefined || ready.reason === "NoSpace") return [];
  const { size, inUse, pressure } = database;
  const defrag = `kubectl etcd defrag ${name}`;
  if (pressure !== undefined)
    return [warning(pressure, pressure.includes("volume") ? `kubectl edit etcd ${name}` : defrag)];
  if (inUse === undefined || size < fragmentedFrom || inUse > size / 2) return [];
  return [
    warning(
      `The database file has ${bytesInWords(size)}, but only ${bytesInWords(inUse)} hold data: a defragmentation frees the rest.`,
      defrag,
    ),
  ];
};

const examineSize: Examination = ({ name }, { cluster }) => {
  const { size } = withDefaults(cluster).spec;
  const more = `kubectl scale etcd ${name} --replicas=${size % 2 === 0 ? size + 1 : 3}`;
  if (size === 1) return [warning("The cluster has one member: while it is down, the cluster serves nothing.", more)];
  if (size % 2 === 1) return [];
  return [warning(`${size} members tolerate no more losses than ${size - 1}: choose an odd size.`, more)];
};

/** Who would be lost with one node or zone. 3 voters, 2 on one node: without that node 1 is left, and 2 are needed. */
const examinePlaces: Examination = ({ members, name, quorum }, observed) => {
  const voters = members.filter(({ role, healthy }) => healthy && (role === "leader" || role === "voter"));
  if (voters.length < 3) return [];
  const zones = new Set(
    valueOr(observed.nodes, []).flatMap(({ metadata }) => metadata?.labels?.["topology.kubernetes.io/zone"] ?? []),
  );
  const tooMany = (of: (member: MemberView) => string | undefined): string | undefined => {
    const counts = new Map<string, number>();
    for (const place of voters.flatMap((member) => of(member) ?? [])) counts.set(place, (counts.get(place) ?? 0) + 1);
    return [...counts].find(([, count]) => count > quorum.margin)?.[0];
  };
  const spread = (place: string): Finding[] => [
    warning(
      `Without ${place} the cluster would lose its quorum: too many members run there. Spread them with spec.pod.topologySpreadConstraints.`,
      `kubectl edit etcd ${name}`,
    ),
  ];
  const node = tooMany((member) => member.node);
  if (node !== undefined) return spread(`the node ${node}`);
  const zone = zones.size > 1 ? tooMany((member) => member.zone) : undefined;
  return zone === undefined ? [] : spread(`the zone ${zone}`);
};

const farBehind = 5_000;
const manyRestarts = 5;

const examineMembers: Examination = ({ members, name }) =>
  members.flatMap((member) => [
    ...(member.health === "silent"
      ? [
          serious(
            `${member.name} does not answer, but others do: its process, its node or the network to it hangs.`,
            `kubectl describe pod ${member.name}`,
          ),
        ]
      : []),
    ...(member.role !== "learner" && member.healthy && (member.lag ?? 0) > farBehind
      ? [
          warning(
            `${member.name} is ${member.lag} entries behind: its disk or network may be slow.`,
            `kubectl etcd logs ${name} ${member.name}`,
          ),
        ]
      : []),
    ...((member.restarts ?? 0) >= manyRestarts
      ? [
          warning(
            `${member.name} has restarted ${member.restarts} times.`,
            `kubectl etcd logs ${name} ${member.name} --previous`,
          ),
        ]
      : []),
  ]);

const examineVersion: Examination = ({ version, name }) => {
  const running = version.running.flatMap((text) => parseVersion(text) ?? []);
  const oldest = running.toSorted(compareVersions)[0];
  const newest = oldest && minors.find((minor) => sameMinor(minor.newest, oldest))?.newest;
  if (oldest === undefined || newest === undefined || compareVersions(oldest, newest) >= 0) return [];
  const [from, to] = [formatVersion(oldest), formatVersion(newest)];
  const command = `kubectl etcd upgrade ${name} --to=${to} --plan`;
  const bad = whyBad(oldest);
  if (bad !== undefined) return [warning(`etcd ${from} has a known bug: ${bad}. ${to} does not have it.`, command)];
  return [note(`A newer patch release is available: the cluster runs etcd ${from}, the newest is ${to}.`, command)];
};

const examineVolumes: Examination = ({ name }, observed) => {
  const retired = valueOr(observed.claims, []).filter(({ metadata }) => metadata?.labels?.[claimLabel] === "retired");
  if (retired.length === 0) return [];
  return [
    note(
      `${plural(retired.length, "volume")} of removed members ${retired.length === 1 ? "is" : "are"} kept.`,
      `kubectl delete pvc -l etcd_cluster=${name},${claimLabel}=retired`,
    ),
  ];
};

const recently = 60 * 60_000;
const advice = new Map(
  // The rows are written for a page, with links.
  Object.values<EventReason>(eventReasons).map((row) => [
    row.reason,
    (row.whatToDo ?? "").replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1"),
  ]),
);

/** Only while the cluster is not well: an event of a trouble that is over is history. */
const examineEvents: Examination = ({ ready, name }, { events, now }) => {
  if (ready.status === "True") return [];
  const newest = new Map(
    valueOr(events, [])
      .filter((event) => event.type === "Warning" && now - lastSeen(event) < recently)
      .filter((event) => !ready.sentence.includes(event.note ?? ""))
      .toReversed()
      .map((event) => [event.reason ?? "", event]),
  );
  return [...newest.values()].map((event) =>
    note(
      `${event.reason}, ${ageInWords(now - lastSeen(event))} ago: ${event.note ?? ""} ${advice.get(event.reason ?? "") ?? ""}`.trim(),
      `kubectl events --for etcdcluster/${name}`,
    ),
  );
};

export const examinations: readonly Examination[] = [
  examineReadiness,
  examineOperator,
  examineCertificates,
  examineSpace,
  examineBackups,
  examineMembers,
  examinePlaces,
  examineSize,
  examineVersion,
  examineVolumes,
  examineEvents,
];
