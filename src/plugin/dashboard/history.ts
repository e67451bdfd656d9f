// The figures of members as they moved, for the small curves of the page: the last few minutes, and no more.
import type { ClusterView } from "../view/cluster-view.ts";
import type { History, Series } from "./messages.ts";

/** At a read every five seconds, ten minutes. */
export const mostSamples = 120;

interface Sample {
  readonly at: number;
  readonly members: ClusterView["members"];
}

export class Samples {
  #kept: readonly Sample[] = [];

  add(at: number, { members }: ClusterView): void {
    this.#kept = [...this.#kept, { at, members }].slice(-mostSamples);
  }

  /** The history of the members that exist now. */
  history(): History {
    const now = this.#kept.at(-1)?.members ?? [];
    return {
      times: this.#kept.map(({ at }) => at),
      members: Object.fromEntries(now.map(({ name }) => [name, this.#series(name)])),
    };
  }

  #series(name: string): Series {
    const own = this.#kept.map(({ members }) => members.find((member) => member.name === name));
    return { lag: own.map((one) => one?.lag ?? null), dbSize: own.map((one) => one?.dbSize ?? null) };
  }
}
