// Every small world that can be reached from the first, the nearest first: so what is found is found by a shortest path.
// From each, two schedules without further trouble are followed until the cluster is as it was asked for, or lost.
import { createHash } from "node:crypto";
import { settle, Violation } from "./etcd.ts";
import { type Move, movesOf, type Nature } from "./nature.ts";
import { isAtRest, type Reconciled, reconcile } from "./operator.ts";
import { isLostForGood } from "./rules.ts";
import { describe, type SmallWorld, textOf, worldOf } from "./state.ts";
import type { Log } from "./view.ts";

export interface Scope extends Nature {
  readonly log: Log;
  /** Whether an operator may die between two writes. */
  readonly deaths: boolean;
}

export interface Found {
  readonly states: number;
  /** Those in which it is as it was asked for, and those in which it is lost for good. */
  readonly whole: number;
  readonly lost: number;
  /** Steps of the longest way to one of them. */
  readonly longest: number;
  /** The first that is wrong, with a shortest path to it. */
  readonly violation: { readonly what: string; readonly path: readonly string[] } | undefined;
}

interface Step {
  readonly what: string;
  readonly text: string;
}

/** How a world ends, and how many steps from there; undefined: not known yet. */
type End = { readonly t: "whole" | "lost"; readonly steps: number };

export function search(first: SmallWorld, scope: Scope): Found {
  return new Search(scope).from(first);
}

class Search {
  readonly #scope: Scope;
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #parents: number[] = [];
  readonly #steps: string[] = [];
  /** By schedule, the next world of each without further trouble; its own number: it ends there. */
  readonly #next: readonly [number[], number[]] = [[], []];
  readonly #ends: (End["t"] | undefined)[] = [];

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  from(first: SmallWorld): Found {
    this.#number(textOf(first), -1, "");
    for (let at = 0; at < this.#texts.length; at += 1) {
      const violation = this.#expand(at);
      if (violation !== undefined) return this.#found(0, violation);
    }
    return this.#follow();
  }

  #number(text: string, parent: number, step: string): number {
    const hash = createHash("md5").update(text).digest("base64");
    const known = this.#numbers.get(hash);
    if (known !== undefined) return known;
    const number = this.#texts.length;
    this.#numbers.set(hash, number);
    this.#texts.push(text);
    this.#parents.push(parent);
    this.#steps.push(step);
    return number;
  }

  #expand(at: number): Found["violation"] {
    const text = this.#texts[at] ?? "";
    const go = (step: Step): number => this.#number(step.text, at, step.what);
    try {
      const { reconciled, step } = this.#operate(text);
      const moves = movesOf(worldOf(text), this.#scope);
      const all = moves.map((move) => ({ sort: move.sort, number: go(this.#happen(text, move)) }));
      const operated = go(step);
      if (this.#scope.deaths && worldOf(text).faults > 0) this.#die(reconciled, at);
      const first = (sort: Move["sort"]): number | undefined => all.find((one) => one.sort === sort)?.number;
      const byItself = first("byItself");
      const [after, before] = [operated === at ? undefined : operated, byItself];
      const rest = first("later") ?? first("repaired");
      this.#ends[at] = this.#endOf(text, reconciled, operated === at);
      const isOver = this.#ends[at] !== undefined;
      this.#next[0][at] = isOver ? at : (before ?? after ?? rest ?? at);
      this.#next[1][at] = isOver ? at : (after ?? before ?? rest ?? at);
      return undefined;
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      return { what: error.message, path: [...this.#path(at), `then: ${error.message}`] };
    }
  }

  #operate(text: string): { reconciled: Reconciled; step: Step } {
    const world = worldOf(text);
    const reconciled = reconcile(world, this.#scope.log);
    const what = reconciled.writes.map((write) => write.what).join(", ");
    return { reconciled, step: { what: `the operator: ${what}`, text: reconciled.writes.at(-1)?.text ?? text } };
  }

  #happen(text: string, { what, sort, happen }: Move): Step {
    const world = worldOf(text);
    if (sort === "fault") world.faults -= 1;
    if (sort === "change") world.changes -= 1;
    happen(world);
    settle(world);
    return { what, text: textOf(world) };
  }

  /** After each write but the last. */
  #die({ writes }: Reconciled, at: number): void {
    for (const { text, what } of writes.slice(0, -1)) {
      const world = worldOf(text);
      world.faults -= 1;
      this.#number(textOf(world), at, `the operator dies after: ${what}`);
    }
  }

  #endOf(text: string, { health }: Reconciled, isSettled: boolean): End["t"] | undefined {
    const world = worldOf(text);
    if (isSettled && isAtRest(world)) return "whole";
    // It says so, and is right.
    return isSettled && health === "dataLost" && isLostForGood(world) ? "lost" : undefined;
  }

  /** Both schedules from every world. */
  #follow(): Found {
    let longest = 0;
    for (const [schedule, next] of this.#next.entries()) {
      const steps = new Map<number, number>();
      for (let from = 0; from < this.#texts.length; from += 1) {
        const way: number[] = [];
        const onWay = new Set<number>();
        let at = from;
        while (!steps.has(at)) {
          if (onWay.has(at)) return this.#found(longest, this.#stuck(from, at, schedule));
          onWay.add(at);
          way.push(at);
          if (this.#ends[at] !== undefined) break;
          at = next[at] ?? at;
        }
        let count = steps.get(at) ?? -1;
        for (const one of way.toReversed()) {
          count += 1;
          steps.set(one, count);
        }
        longest = Math.max(longest, count);
      }
    }
    return this.#found(longest, undefined);
  }

  #stuck(from: number, at: number, schedule: number): Found["violation"] {
    const circle: string[] = [];
    let next = at;
    do {
      circle.push(describe(worldOf(this.#texts[next] ?? "")));
      next = this.#next[schedule === 0 ? 0 : 1][next] ?? at;
    } while (next !== at && circle.length < 10);
    const { reconciled } = this.#operate(this.#texts[at] ?? "");
    const what = `there is no way back to what was asked for (the operator: ${reconciled.health}, ${reconciled.because})`;
    return { what, path: [...this.#path(from), "then without further trouble, again and again:", ...circle] };
  }

  /** In words, from the first world. */
  #path(to: number): string[] {
    const path: string[] = [];
    for (let at = to; at >= 0; at = this.#parents[at] ?? -1)
      path.unshift(`${this.#steps[at] || "at first"} → ${describe(worldOf(this.#texts[at] ?? ""))}`);
    return path;
  }

  #found(longest: number, violation: Found["violation"]): Found {
    const count = (end: End["t"]): number => this.#ends.filter((one) => one === end).length;
    return { states: this.#texts.length, whole: count("whole"), lost: count("lost"), longest, violation };
  }
}
