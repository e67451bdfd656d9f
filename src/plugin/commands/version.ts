// `version`: of the plugin, and what runs in the cluster.
import type { Command } from "../command.ts";
import { answer } from "../screen/structured.ts";
import { version } from "../../version.ts";

export const versionCommand: Command = {
  name: "version",
  what: "Print the version of the plugin.",
  arguments: [],
  flags: [],
  examples: [{ what: "Which version is this?", line: "version" }],
  permissions: [],
  async run(call) {
    const view = { plugin: version, node: process.versions.node };
    return answer(call, `kubectl-etcd ${version} (Node ${view.node})`, view);
  },
};
