// One cluster as a screen: what is the matter first, then the members, then what people ask for less often.
import type { Hue, Paint } from "../screen/colour.ts";
import { type Cell, type Column, leftOut, type Table, tableLines } from "../screen/table.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import { ageInWords, shareInWords } from "../screen/words.ts";
import { item, wrapped } from "../screen/wrap.ts";
import type { BackupView, CertificateView, ClusterView, DatabaseView } from "./cluster-view.ts";
import { certificateHue, databaseHue, healthHue, quorumHue, readyHue } from "./hues.ts";
import type { MemberView } from "./members.ts";

export interface TextLayout {
  readonly columns: number;
  readonly paint: Paint;
}

const labelWidth = 13;

export function clusterText(view: ClusterView, layout: TextLayout): string {
  return [
    ...headLines(view, layout),
    "",
    ...memberLines(view.members, layout),
    ...section("Certificates", certificateLines(view.certificates, layout), layout),
    ...section("Backups", backupLines(view.backups, layout), layout),
    ...section(
      "Notes",
      view.notes.flatMap((note) => item(note, layout.columns)),
      layout,
    ),
  ].join("\n");
}

function headLines(view: ClusterView, layout: TextLayout): string[] {
  const { name, namespace, ready, quorum, activity, alarms, database, toRoll } = view;
  const since = ready.forSeconds === undefined ? "" : ` (for ${ageInWords(ready.forSeconds * 1000)})`;
  const verdict = { True: "Ready", False: `Not ready, ${ready.reason}`, Unknown: "Not known" }[ready.status];
  return [
    `${layout.paint("strong", name)} in ${namespace}`,
    ...labelled("Status", `${verdict}${since}`, layout, readyHue(view)),
    ...(ready.sentence === "" ? [] : labelled("", ready.sentence, layout)),
    ...labelled("Phase", `${view.phase}, etcd ${versionInWords(view)}`, layout),
    ...labelled("Quorum", quorum.sentence, layout, quorumHue(quorum)),
    ...(database === undefined ? [] : labelled("Database", databaseInWords(database), layout, databaseHue(database))),
    ...(database?.pressure === undefined ? [] : labelled("", database.pressure, layout)),
    ...(toRoll.updated < toRoll.of
      ? labelled("To roll", `${toRoll.of - toRoll.updated} of ${toRoll.of} members`, layout, "warning")
      : []),
    ...(alarms.length === 0 ? [] : labelled("Alarms", alarms.join(", "), layout, "bad")),
    ...activityLines(
      activity.filter((said) => said !== `Waits: ${ready.sentence}`),
      ready,
      layout,
    ),
  ];
}

function activityLines(said: readonly string[], ready: ClusterView["ready"], layout: TextLayout): string[] {
  if (said.length === 0)
    return labelled("Now", ready.status === "True" ? "nothing to do" : "see the status above", layout, "dim");
  return said.flatMap((one, at) => labelled(at === 0 ? "Now" : "", one, layout));
}

function versionInWords({ version: { wanted, running } }: ClusterView): string {
  const others = running.filter((one) => one !== wanted);
  if (running.length === 0 || others.length === 0) return wanted;
  return `${running.join(" and ")}, going to ${wanted}`;
}

function databaseInWords({ size, inUse, quota, volume }: DatabaseView): string {
  const used = inUse === undefined ? "" : `, ${bytesInWords(inUse)} in use`;
  const limit = quota === undefined ? "" : `; quota ${bytesInWords(quota)} (${shareInWords(size, quota)})`;
  return `${bytesInWords(size)}${used}${limit}${volume === undefined ? "" : `; volumes of ${bytesInWords(volume)}`}`;
}

function labelled(label: string, text: string, { columns, paint }: TextLayout, hue?: Hue): string[] {
  return wrapped(text, Math.max(20, columns - labelWidth)).map((line, at) => {
    const head = (at === 0 && label !== "" ? `${label}:` : "").padEnd(labelWidth);
    return `${head}${hue === undefined ? line : paint(hue, line)}`;
  });
}

const section = (title: string, lines: readonly string[], { paint }: TextLayout): string[] =>
  lines.length === 0 ? [] : ["", paint("strong", title), ...lines];

// Members

const memberColumns: readonly Column[] = [
  { title: "MEMBER", droppable: 0 },
  { title: "ROLE", droppable: 0 },
  { title: "HEALTH", droppable: 0 },
  { title: "VERSION", droppable: 2 },
  { title: "DB SIZE", droppable: 3, align: "right" },
  { title: "IN USE", droppable: 6, align: "right" },
  { title: "OF QUOTA", droppable: 8, align: "right" },
  { title: "LAG", droppable: 4, align: "right" },
  { title: "NODE", droppable: 1 },
  { title: "ZONE", droppable: 7 },
  { title: "AGE", droppable: 5, align: "right" },
  { title: "RESTARTS", droppable: 9, align: "right" },
];

function memberTable(members: readonly MemberView[]): Table {
  return { columns: memberColumns, rows: members.map(memberCells) };
}

function memberCells(member: MemberView): Cell[] {
  const { name, role, health, version, dbSize, dbInUse, quota, lag, node, zone, ageSeconds, restarts } = member;
  const orNothing = <T>(value: T | undefined, text: (value: T) => string): string =>
    value === undefined ? "-" : text(value);
  return [
    name,
    role === "leader" ? { text: role, hue: "strong" } : role,
    { text: health, hue: healthHue(member) },
    version ?? "-",
    orNothing(dbSize, bytesInWords),
    orNothing(dbInUse, bytesInWords),
    dbSize === undefined || quota === undefined ? "-" : shareInWords(dbSize, quota),
    orNothing(lag, String),
    node ?? "-",
    zone ?? "-",
    orNothing(ageSeconds, (seconds) => ageInWords(seconds * 1000)),
    restarts === undefined || restarts === 0 ? orNothing(restarts, String) : { text: String(restarts), hue: "warning" },
  ];
}

export function memberLines(members: readonly MemberView[], { columns, paint }: TextLayout): string[] {
  if (members.length === 0) return ["No members yet."];
  const table = memberTable(members);
  const missing = leftOut(table, columns).map((title) => title.toLowerCase());
  const hint = missing.length === 0 ? [] : [paint("dim", `Columns that do not fit: ${missing.join(", ")}.`)];
  return [...tableLines(table, columns, paint), ...hint];
}

// Certificates and backups

function certificateLines(certificates: readonly CertificateView[], { columns, paint }: TextLayout): string[] {
  if (certificates.length === 0) return [];
  const rows = certificates.map((certificate): Cell[] => {
    const { use, notAfter, daysLeft } = certificate;
    const hue = certificateHue(certificate);
    return [use, { text: daysLeft < 0 ? "expired" : `${daysLeft} days`, hue }, notAfter];
  });
  return tableLines({ columns: certificateColumns, rows }, columns, paint);
}

const certificateColumns: readonly Column[] = [
  { title: "FOR", droppable: 0 },
  { title: "LEFT", droppable: 0, align: "right" },
  { title: "EXPIRES", droppable: 1 },
];

const backupColumns: readonly Column[] = [
  { title: "BACKUP", droppable: 0 },
  { title: "PHASE", droppable: 0 },
  { title: "LAST", droppable: 0, align: "right" },
  { title: "VERIFIED BY A RESTORE", droppable: 1, align: "right" },
  { title: "SIZE", droppable: 4, align: "right" },
  { title: "WHEN", droppable: 3 },
  { title: "NEXT", droppable: 5 },
];

function backupLines(backups: ClusterView["backups"], { columns, paint }: TextLayout): string[] {
  if (backups === "unknown") return [];
  if (backups.length === 0) return [paint("warning", "None. `kubectl etcd backup --help` shows how to start.")];
  const rows = backups.map(backupCells);
  const problems = backups.flatMap(({ name, problem }) =>
    problem === undefined ? [] : item(`${name}: ${problem}`, columns).map((line) => paint("bad", line)),
  );
  return [...tableLines({ columns: backupColumns, rows }, columns, paint), ...problems];
}

function backupCells(backup: BackupView): Cell[] {
  const { name, phase, ageSeconds, verifiedAgeSeconds, sizeBytes, when, next } = backup;
  const ago = (seconds: number): string => `${ageInWords(seconds * 1000)} ago`;
  return [
    name,
    { text: phase, hue: phase === "Failed" ? "bad" : "good" },
    ageSeconds === undefined ? { text: "never", hue: "warning" } : ago(ageSeconds),
    verifiedAgeSeconds === undefined ? { text: "never", hue: "warning" } : ago(verifiedAgeSeconds),
    sizeBytes === undefined ? "-" : bytesInWords(sizeBytes),
    when,
    next ?? "-",
  ];
}
