// The answer of a command: text for people, or JSON or YAML for programs, as kubectl prints its own.
import { stringify } from "yaml";
import type { Call, ExitCode } from "../command.ts";

export function structured(format: "json" | "yaml", value: object): string {
  return format === "json" ? JSON.stringify(value, undefined, 2) : stringify(value, { lineWidth: 0 });
}

export function answer({ output, screen }: Pick<Call, "output" | "screen">, text: string, value: object): ExitCode {
  screen.print(output === "text" ? text : structured(output, value));
  return 0;
}
