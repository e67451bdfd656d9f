// docs/reference/flags.md, made from the table of the operator's flags.
import { type Flag, knownFlags } from "../../src/flags.ts";
import { programs } from "../../src/programs.ts";

export function flagsPage(): string {
  return `# Flags

<!-- Made by \`node docs/generate.ts\` from src/flags.ts. -->

Of ${programs.map((program) => `\`${program}\``).join(", ")}: one image under three names. One dash or two; \`-flag=value\` or
\`-flag value\`. A flag that is not known ends the program with exit code 2 and a sentence.

| flag | default | meaning |
|---|---|---|
${Object.entries<Flag>(knownFlags)
  .map(([name, { fallback, absent, meaning }]) => `| \`-${name}\` | ${absent ?? `\`${fallback}\``} | ${meaning} |`)
  .join("\n")}

| variable | meaning |
|---|---|
| \`MY_POD_NAMESPACE\`, \`MY_POD_NAME\` | The operator's own pod. They must be set in a pod, as the manifests do. |
| \`KUBECONFIG\` | Which Kubernetes to use outside of a pod. |

[install.md](../install.md#which-clusters-it-manages) says which clusters an operator manages with which flags.
`;
}
