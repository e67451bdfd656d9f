// `version`: of the plugin, and what runs in the cluster.
import type { Command } from "../command.ts";
import { structured } from "../screen/structured.ts";
import { version } from "../../version.ts";

export const versionCommand: Command = {
  name: "version",
  what: "Print the version of the plugin.",
  arguments: [],
  flags: [],
  examples: [{ what: "Which version is this?", line: "version" }],
  permissions: [],
  async run({ output, screen }) {
    const view = { plugin: version, node: process.versions.node };
    screen.print(output === "text" ? `kubectl-etcd ${version} (Node ${view.node})` : structured(output, view));
    return 0;
  },
};
