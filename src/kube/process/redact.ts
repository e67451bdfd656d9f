// What a log line may show of a value: plain data without secrets, of bounded depth and length. An
// error shows only the fields that identify it; others, such as a request with its token, stay out.

const hidden = "[hidden]";
const deepest = 6;
const longestText = 4096;
const longestList = 50;

/** Fields that are secret by their name. `data` is where a Secret keeps its values. */
const secretName =
  /^(data|stringData)$|token|password|passwd|secret(?!name|s?ref)|authorization|cookie|credential|private|accesskey|apikey/i;
const secretText =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)|\b(Bearer|Basic) +[\w.~+/=-]+|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+|:\/\/[^\s/@:]+:[^\s/@]+@/g;

export function withoutSecrets(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return plainFields(Object.entries(fields), 0);
}

function plainFields(entries: [string, unknown][], depth: number): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of entries) {
    shown[name] = typeof value !== "boolean" && secretName.test(name) ? hidden : plain(value, depth);
  }
  return shown;
}

function plain(value: unknown, depth: number): unknown {
  if (typeof value === "string") return plainText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return typeof value;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= deepest) return "[deeper]";
  if (value instanceof Error) return plainError(value, depth + 1);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (value instanceof Map) return plain(Object.fromEntries(value), depth);
  if (value instanceof Set) return plain([...value], depth);
  if (Array.isArray(value)) return value.slice(0, longestList).map((item) => plain(item, depth + 1));
  return plainFields(Object.entries(value), depth + 1);
}

function plainText(text: string): string {
  const shown = text.replace(secretText, hidden);
  return shown.length > longestText ? `${shown.slice(0, longestText)}…` : shown;
}

/** The fields that identify an error of this program. */
const tellingFields = new Set(["code", "reason", "failure", "retryAfter", "lease"]);

function plainError(error: Error, depth: number): Record<string, unknown> {
  const telling = Object.entries(error).filter(([name]) => tellingFields.has(name));
  const shown: Record<string, unknown> = { name: error.name, message: plainText(error.message) };
  for (const [name, value] of telling) shown[name] = plain(value, depth);
  if (error.cause !== undefined) shown["cause"] = plain(error.cause, depth);
  if (error.stack !== undefined) shown["stack"] = plainText(error.stack);
  return shown;
}
