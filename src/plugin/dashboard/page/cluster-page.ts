// One cluster: how it is and how much it can bear, what the operator does, where the members are, what happened.
import { bytesInWords } from "../../../kube/objects/size.ts";
import { ageInWords, shareInWords } from "../../screen/words.ts";
import type { ClusterView } from "../../view/cluster-view.ts";
import type { ClusterMessage } from "../messages.ts";
import { bar, votes } from "./charts.ts";
import { copyable } from "./copy.ts";
import { type Child, h } from "./dom.ts";
import { memberPlaces } from "./member-places.ts";
import { fact, list, mark, pill, section } from "./parts.ts";
import { backups, certificates, timeline } from "./records.ts";

export function clusterPage(message: ClusterMessage): Child[] {
  const { view, hues, findings, commands } = message;
  return [
    hero(message),
    h(
      "div",
      { class: "pair", "data-key": "quorum-and-now" },
      section(
        "quorum",
        "Quorum",
        h("p", { class: `margin ${hues.quorum}` }, mark(hues.quorum), marginInWords(view.quorum)),
        votes(view.quorum, hues.quorum),
        h("p", { class: "small" }, votesInWords(view.quorum)),
      ),
      section("now", "The operator", now(view)),
    ),
    findings.length > 0 &&
      section(
        "findings",
        "What needs attention",
        list(
          "findings-list",
          ...findings.map(({ severity, what, command }) =>
            h(
              "li",
              { "data-key": what },
              pill(({ serious: "bad", warning: "warning", note: "dim" } as const)[severity], severity),
              h("p", {}, what),
              copyable(command, what),
            ),
          ),
        ),
      ),
    memberPlaces(message),
    h(
      "div",
      { class: "pair wide-first", "data-key": "records" },
      timeline(message),
      h(
        "div",
        { class: "stack" },
        database(message),
        backups(view.backups),
        certificates(view.certificates, hues.certificates),
      ),
    ),
    section(
      "commands",
      "Commands to copy",
      h("p", { class: "small" }, "This page changes nothing. Run these in a terminal, with the same permissions:"),
      list(
        "commands-list",
        ...commands.map(({ what, command }) =>
          h("li", { "data-key": what }, h("p", {}, what), copyable(command, what)),
        ),
      ),
    ),
    view.notes.length > 0 && section("notes", "Not shown", h("ul", {}, ...view.notes.map((note) => h("li", {}, note)))),
  ];
}

function hero({ view, hues }: ClusterMessage): HTMLElement {
  const { name, namespace, ready, phase, version, alarms, toRoll, activity } = view;
  const verdict = verdictInWords(view);
  const others = version.running.filter((one) => one !== version.wanted);
  const running = others.length === 0 ? version.wanted : `${version.running.join(" and ")}, going to ${version.wanted}`;
  return h(
    "div",
    { class: "hero", "data-key": "hero" },
    h("h1", { tabindex: "-1" }, name),
    h("p", { class: "lead" }, `in ${namespace} · etcd ${running} · ${phase}`),
    h(
      "p",
      { class: "verdict" },
      pill(hues.ready, verdict),
      ...alarms.map((alarm) => pill("bad", `alarm ${alarm}`)),
      toRoll.updated < toRoll.of && pill("warning", `${toRoll.of - toRoll.updated} of ${toRoll.of} to roll`),
      ready.forSeconds !== undefined && h("span", { class: "small" }, `for ${ageInWords(ready.forSeconds * 1000)}`),
    ),
    // Else it stands in what the operator waits for.
    !activity.some((said) => said.includes(ready.sentence)) && h("p", { class: "sentence" }, ready.sentence),
  );
}

export function verdictInWords({ ready }: Pick<ClusterView, "ready">): string {
  return { True: "Ready", False: `Not ready: ${ready.reason}`, Unknown: "Not known" }[ready.status];
}

function marginInWords({ voters, margin, replaced }: ClusterView["quorum"]): string {
  if (replaced) return "The data is replaced";
  if (voters === 0) return "No member votes yet";
  if (margin < 0) return "Quorum lost";
  return margin === 0 ? "Cannot lose any" : `Can lose ${margin} more`;
}

function now({ activity, ready }: ClusterView): HTMLElement {
  if (activity.length === 0)
    return h("p", { class: "idle" }, ready.status === "True" ? "Nothing to do." : "See the status above.");
  const waits = "Waits: ";
  return h(
    "ul",
    { class: "activity", role: "list" },
    ...activity.map((said, at) =>
      said.startsWith(waits)
        ? h("li", { class: "waits" }, h("b", {}, "Waits"), h("span", {}, said.slice(waits.length)))
        : h("li", {}, h("b", {}, at === 0 ? "Now" : ""), h("span", {}, said)),
    ),
  );
}

function database({ view, hues }: ClusterMessage): HTMLElement | false {
  const { database } = view;
  if (database === undefined) return false;
  const { size, inUse, quota, volume, pressure } = database;
  return section(
    "database",
    "Database",
    quota !== undefined && bar(size / quota, hues.database, `${shareInWords(size, quota)} of the quota`),
    h(
      "dl",
      { class: "facts" },
      fact("File", bytesInWords(size)),
      inUse !== undefined && fact("In use", bytesInWords(inUse)),
      quota !== undefined && fact("Quota", `${bytesInWords(quota)} (${shareInWords(size, quota)})`),
      volume !== undefined && fact("Volumes", bytesInWords(volume)),
    ),
    pressure !== undefined && h("p", { class: "sentence" }, mark("warning"), pressure),
  );
}

/** The sentence of the view, without what is said above it. */
function votesInWords({ sentence, margin }: ClusterView["quorum"]): string {
  const [have = sentence] = margin < 0 ? [] : sentence.split(":");
  return `${have.charAt(0).toUpperCase()}${have.slice(1)}.`;
}
