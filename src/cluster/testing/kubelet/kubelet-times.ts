// How long things take on the nodes of an in-memory Kubernetes.

/** How long things take, in milliseconds. */
export const times = {
  schedule: 20,
  start: 300,
  listen: 100,
  stop: 200,
  vanish: 1000,
  catchUp: 250,
  /** Between two checks of a kubelet on its containers. */
  check: 500,
  /** A container that ended starts again at once, then after so long, then after twice as long. */
  firstRestart: 500,
  backOff: 10_000,
  longestBackOff: 300_000,
  /** So long a container may fail its readiness probe before its kubelet says so. */
  unready: 3000,
  /** So long a node may be silent before that is written down. */
  nodeGrace: 40_000,
} as const;

/** Until a container that has been restarted so often is started again. */
export function backOff(restarts: number): number {
  if (restarts === 0) return times.firstRestart;
  return Math.min(times.backOff * 2 ** (restarts - 1), times.longestBackOff);
}
