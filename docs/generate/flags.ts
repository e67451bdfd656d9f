// docs/reference/flags.md, made from the table of the operator's flags.
import { type Flag, knownFlags } from "../../src/flags.ts";
import { programs } from "../../src/programs.ts";

export function flagsPage(): string {
  return `# Flags

<!-- Made by \`node docs/generate.ts\` from src/flags.ts. -->

The flags of ${programs.map((program) => `\`${program}\``).join(", ")}, which are one image under three names. A flag starts with one
dash or two, and takes its value as \`-flag=value\` or \`-flag value\`. A program that gets an unknown flag prints a message and exits with
code 2.

| flag | default | meaning |
|---|---|---|
${Object.entries<Flag>(knownFlags)
  .map(([name, { fallback, absent, meaning }]) => `| \`-${name}\` | ${absent ?? `\`${fallback}\``} | ${meaning} |`)
  .join("\n")}

| variable | meaning |
|---|---|
| \`MY_POD_NAMESPACE\`, \`MY_POD_NAME\` | Namespace and name of the operator's own pod. Both must be set in a pod; the manifests set them. |
| \`KUBECONFIG\` | Kubeconfig file of the Kubernetes cluster to use outside of a pod. |

[install.md](../install.md#which-clusters-it-manages) says which clusters an operator manages with which flags.
`;
}
