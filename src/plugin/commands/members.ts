// `members`: the members of a cluster, alone.
import type { Command } from "../command.ts";
import { readAll } from "../permissions.ts";
import { structured } from "../screen/structured.ts";
import { item } from "../screen/wrap.ts";
import { observe } from "../observe/observe.ts";
import { memberLines } from "../view/cluster-text.ts";
import { viewOf } from "../view/cluster-view.ts";

export const membersCommand: Command = {
  name: "members",
  what: "List the members of a cluster.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [],
  examples: [
    { what: "Which member leads, which lag, and where they run", line: "members my-etcd" },
    { what: "For a program", line: "members my-etcd -o yaml" },
  ],
  permissions: readAll,
  async run({ arguments: [name = ""], output, reach, screen, now }) {
    const there = await reach();
    const { members, notes, quorum } = viewOf(await observe(there, { namespace: there.namespace, name }, now()));
    if (output !== "text") screen.print(structured(output, { members, quorum, notes }));
    else
      screen.print(
        [...memberLines(members, screen), ...notes.flatMap((note) => item(note, screen.columns))].join("\n"),
      );
    return 0;
  },
};
