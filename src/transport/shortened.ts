// Texts that others write, in a length that fits a condition, an Event or a log line.

/** Long enough for every error text of etcd and Kubernetes that says something. */
const longest = 1000;

export function shortened(text: string, most: number = longest): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
