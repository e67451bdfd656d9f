// The members where they are: zones, in them nodes, on them members with their figures as they move.
import { bytesInWords } from "../../../kube/objects/size.ts";
import { ageInWords, plural, shareInWords } from "../../screen/words.ts";
import type { MemberView } from "../../view/members.ts";
import type { ClusterMessage, NodeOfMembers, Zone } from "../messages.ts";
import { bar, sparkline } from "./charts.ts";
import { h } from "./dom.ts";
import { fact, list, mark, pill, section } from "./parts.ts";

export function memberPlaces(message: ClusterMessage): HTMLElement {
  const { zones, view } = message;
  return section(
    "members",
    "Members by zone and node",
    view.members.length === 0 && h("p", { class: "idle" }, "No members yet."),
    list("zones", ...zones.map((zone) => zoneBox(zone, message))),
  );
}

function zoneBox({ name, nodes, others }: Zone, message: ClusterMessage): HTMLElement {
  const empty = nodes.length === 0 ? "No member here" : "";
  const more = others === 0 ? "" : plural(others, nodes.length === 0 ? "node" : "more node");
  return h(
    "li",
    { class: "zone", "data-key": name ?? "" },
    h("h3", {}, name ?? "Unknown zone"),
    list("nodes", ...nodes.map((place) => nodeBox(place, message))),
    (empty !== "" || more !== "") && h("p", { class: "small" }, [empty, more].filter(Boolean).join(" · ")),
  );
}

function nodeBox({ name, trouble, members }: NodeOfMembers, message: ClusterMessage): HTMLElement {
  const { view } = message;
  return h(
    "li",
    { class: "node", "data-key": name ?? "" },
    h("p", { class: "node-name" }, name ?? "No node", trouble !== undefined && pill("warning", trouble)),
    list(
      "node-members",
      ...members.flatMap((one) => {
        const at = view.members.findIndex((member) => member.name === one);
        const member = view.members[at];
        return member === undefined ? [] : [memberBox(member, at, message)];
      }),
    ),
  );
}

const roles = { leader: "Leader", voter: "Voter", learner: "Learner", joining: "Joining" } as const;

function memberBox(member: MemberView, at: number, { view, hues, history }: ClusterMessage): HTMLElement {
  const { name, role, health, version, restarts, ageSeconds, dbSize, quota, lag } = member;
  const hue = hues.members[at] ?? "dim";
  const prefix = `${view.name}-`;
  const own = name.startsWith(prefix) ? [h("span", { class: "prefix" }, prefix), name.slice(prefix.length)] : [name];
  const series = history.members[name] ?? { lag: [], dbSize: [] };
  const { times } = history;
  const age = ageSeconds === undefined ? "" : `${ageInWords(ageSeconds * 1000)} old`;
  const rest = [version, age, restarts ? plural(restarts, "restart") : ""].filter(Boolean).join(" · ");
  const since = ageInWords((times.at(-1) ?? 0) - (times[0] ?? 0));
  return h(
    "li",
    { class: `member ${role} ${hue}`, "data-key": name, "data-member": name, "data-health": health },
    h("h4", {}, ...own),
    h(
      "p",
      { class: "state" },
      h("span", { class: `role ${role}` }, roles[role]),
      h("span", { class: `health ${hue}` }, mark(hue), health),
    ),
    h(
      "dl",
      { class: "facts curves" },
      lag !== undefined &&
        fact(
          "Raft lag",
          h("span", { class: "figure" }, lag === 0 ? "0" : String(lag)),
          sparkline({ times, values: series.lag, atLeast: 20, label: `Lag in the last ${since}, now ${lag} entries` }),
        ),
      dbSize !== undefined &&
        fact(
          "Database",
          h("span", { class: "figure" }, bytesInWords(dbSize)),
          sparkline({
            times,
            values: series.dbSize,
            atLeast: 1.25 * dbSize,
            label: `Size in the last ${since}, now ${bytesInWords(dbSize)}`,
          }),
        ),
    ),
    dbSize !== undefined &&
      quota !== undefined &&
      h(
        "div",
        { class: "quota" },
        bar(dbSize / quota, hues.database, `${shareInWords(dbSize, quota)} of the quota`),
        h("span", { class: "small" }, `${shareInWords(dbSize, quota)} of ${bytesInWords(quota)}`),
      ),
    rest !== "" && h("p", { class: "small" }, rest),
  );
}
