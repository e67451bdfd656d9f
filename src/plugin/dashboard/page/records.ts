// What is kept about a cluster: what happened, its backups, its certificates.
import type { Hue } from "../../screen/colour.ts";
import { bytesInWords } from "../../../kube/objects/size.ts";
import { ageInWords, plural } from "../../screen/words.ts";
import type { BackupView, CertificateView } from "../../view/cluster-view.ts";
import type { ClusterMessage, Moment } from "../messages.ts";
import { h } from "./dom.ts";
import { fact, list, mark, pill, section } from "./parts.ts";

export function timeline({ timeline: moments, at }: ClusterMessage): HTMLElement {
  return section(
    "timeline",
    "What happened",
    moments.length === 0
      ? h("p", { class: "idle" }, "No events. Kubernetes keeps them for an hour.")
      : h("ol", { class: "moments", role: "list" }, ...moments.map((moment) => momentRow(moment, at))),
  );
}

function momentRow({ at, hue, title, sentence, count }: Moment, now: number): HTMLElement {
  const time = new Date(at);
  return h(
    "li",
    { class: `moment ${hue}`, "data-key": `${at} ${title} ${sentence}` },
    mark(hue),
    h(
      "div",
      {},
      h(
        "p",
        { class: "moment-head" },
        h("b", {}, title),
        count !== undefined && h("span", { class: "small" }, `${count} times`),
        h("time", { datetime: time.toISOString(), title: time.toLocaleString() }, `${ageInWords(now - at)} ago`),
      ),
      sentence !== "" && h("p", {}, sentence),
    ),
  );
}

export function backups(shown: readonly BackupView[] | "unknown"): HTMLElement | false {
  if (shown === "unknown") return false;
  if (shown.length === 0)
    return section(
      "backups",
      "Backups",
      h("p", { class: "sentence" }, mark("warning"), "This cluster has no EtcdBackup."),
    );
  return section("backups", "Backups", list("rows", ...shown.map(backupRow)));
}

function backupRow(backup: BackupView): HTMLElement {
  const { name, phase, when, ageSeconds, verifiedAgeSeconds, sizeBytes, next, failures, problem } = backup;
  const ago = (seconds: number): string => `${ageInWords(seconds * 1000)} ago`;
  return h(
    "li",
    { "data-key": name },
    h("h3", {}, name, h("span", { class: "small" }, phase)),
    h(
      "dl",
      { class: "facts" },
      fact("Last", ageSeconds === undefined ? pill("warning", "never") : ago(ageSeconds)),
      fact(
        "Verified by a restore",
        verifiedAgeSeconds === undefined
          ? pill("warning", "never")
          : h("span", { class: "proved" }, mark("good"), ago(verifiedAgeSeconds)),
      ),
      sizeBytes !== undefined && fact("Size", bytesInWords(sizeBytes)),
      fact("When", when),
      next !== undefined &&
        fact("Next", new Date(next).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" })),
      failures > 0 && fact("Failed", pill("warning", plural(failures, "time"))),
    ),
    problem !== undefined && h("p", { class: "sentence" }, mark("bad"), problem),
  );
}

export function certificates(shown: readonly CertificateView[], hues: readonly Hue[]): HTMLElement | false {
  if (shown.length === 0) return false;
  const rows = shown.map(({ use, notAfter, daysLeft }, at) =>
    fact(
      use,
      pill(hues[at] ?? "dim", daysLeft < 0 ? "expired" : plural(daysLeft, "day")),
      h("time", { class: "small", datetime: notAfter }, ` ${notAfter.slice(0, 10)}`),
    ),
  );
  return section("certificates", "Certificates", h("dl", { class: "facts" }, ...rows));
}
