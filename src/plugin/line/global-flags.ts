// The flags that every command takes: those of kubectl that say where and as whom, and how to print.
import type { FlagRow } from "../command.ts";

const outputs = ["text", "json", "yaml"] as const;
const colours = ["auto", "always", "never"] as const;

export const globalFlags: readonly FlagRow[] = [
  { name: "namespace", short: "n", value: "NAMESPACE", what: "The namespace. Default: that of the context." },
  { name: "context", value: "CONTEXT", what: "The context of the kubeconfig. Default: the current one." },
  { name: "kubeconfig", value: "FILE", what: "The kubeconfig. Default: $KUBECONFIG, then ~/.kube/config." },
  { name: "as", value: "USER", what: "Impersonate this user." },
  { name: "as-group", value: "GROUP", repeats: true, what: "With --as: impersonate this group. May be repeated." },
  { name: "output", short: "o", value: "FORMAT", oneOf: outputs, what: "text, json or yaml." },
  { name: "color", value: "WHEN", oneOf: colours, what: "auto (on a terminal), always or never." },
];
