// All clusters: a card for each, with what one wants to know before opening it.
import { bytesInWords } from "../../../kube/objects/size.ts";
import { ageInWords, plural, shareInWords } from "../../screen/words.ts";
import type { FleetMessage } from "../messages.ts";
import { bar, votes } from "./charts.ts";
import { type Child, h } from "./dom.ts";
import { fact, list, pill, section } from "./parts.ts";

type Row = FleetMessage["view"]["clusters"][number];

export const clusterLink = (namespace: string, name: string): string => `#/${namespace}/${name}`;

export function fleetPage({ view, namespace }: FleetMessage): Child[] {
  const { clusters, notes } = view;
  const ready = clusters.filter((row) => row.ready === "True").length;
  const where = namespace === undefined ? "in all namespaces" : `in the namespace ${namespace}`;
  const summary = clusters.length === 0 ? "" : ` ${ready === clusters.length ? "All" : ready} ready.`;
  return [
    h(
      "div",
      { class: "hero", "data-key": "hero" },
      h("h1", { tabindex: "-1" }, "Clusters"),
      h("p", { class: "lead" }, `${plural(clusters.length, "cluster")} ${where}.${summary}`),
    ),
    clusters.length === 0
      ? h("p", { class: "empty card" }, `There are no EtcdClusters ${where}.`)
      : list("fleet", ...clusters.map(card)),
    notes.length > 0 && section("notes", "Not shown", h("ul", {}, ...notes.map((note) => h("li", {}, note)))),
  ];
}

function card(row: Row): HTMLElement {
  const { namespace, name, hue, ready, reason, sentence, paused, version, dbSize, dbQuota, lastBackupSeconds } = row;
  const status = ready === "True" ? "Ready" : reason || "Unknown";
  const [healthy = 0, size = 0] = row.members.split("/").map(Number);
  const hasQuota = dbSize !== undefined && dbQuota !== undefined;
  const needed = Math.floor(size / 2) + 1;
  return h(
    "li",
    { class: `card cluster ${hue}`, "data-key": `${namespace}/${name}` },
    h("p", { class: "namespace" }, namespace),
    h("h2", {}, h("a", { href: clusterLink(namespace, name) }, name)),
    h("p", { class: "state" }, pill(hue, paused ? `${status}, paused` : status)),
    ready !== "True" && h("p", { class: "sentence" }, sentence),
    h(
      "dl",
      { class: "facts" },
      fact(
        "Members",
        votes({ voters: size, healthy, needed }, hue === "dim" ? "good" : hue),
        h("span", {}, row.members),
      ),
      fact("Version", version),
      fact(
        "Database",
        hasQuota && bar(dbSize / dbQuota, "dim", `${shareInWords(dbSize, dbQuota)} of the quota`),
        h("span", {}, dbSize === undefined ? "not known" : bytesInWords(dbSize)),
        hasQuota && h("span", { class: "small" }, shareInWords(dbSize, dbQuota)),
      ),
      fact("Last backup", lastBackupSeconds === undefined ? "never" : `${ageInWords(lastBackupSeconds * 1000)} ago`),
    ),
  );
}
