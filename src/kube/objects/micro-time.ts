// Kubernetes' two ways to write a moment. A MicroTime (Lease, Event) must have exactly six digits after the second:
// the API server refuses three, or none, with 400. A plain Time (conditions) has none.

export function microTime(date: Date): string {
  return date.toISOString().replace("Z", "000Z");
}

export function secondsTime(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
