// A value as JSON or YAML, as kubectl prints its own.
import { stringify } from "yaml";

export function structured(format: "json" | "yaml", value: object): string {
  return format === "json" ? JSON.stringify(value, undefined, 2) : stringify(value, { lineWidth: 0 });
}
