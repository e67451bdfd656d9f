// What the chapters of the demo share: where they are, the watched cluster, the client that writes, and what was done so far.
import { bold, say } from "../lab/progress.ts";
import { ClusterView } from "./cluster-view.ts";
import type { Place } from "./place.ts";
import type { Done } from "./summary.ts";
import { Writer } from "./writer.ts";

export interface Story {
  readonly place: Place;
  readonly signal: AbortSignal;
  readonly view: ClusterView;
  readonly writer: Writer;
  /** In the order of the chapters. */
  readonly done: Done[];
}

/** For whatever a Kubernetes of one's own may have to pull an image for. */
export const timeoutMs = 300_000;

export async function begin(place: Place, done: Done[], signal: AbortSignal): Promise<Story> {
  const view = await ClusterView.open(place, signal);
  const writer = new Writer({ prefix: `demo/${Date.now()}/`, members: () => view.serving(), signal });
  return { place, signal, view, writer, done };
}

export function chapter(title: string): void {
  say();
  say(bold(title));
}
