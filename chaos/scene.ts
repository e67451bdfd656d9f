// What faults and changes of a round have to do with.
import type { Ground } from "./ground.ts";
import type { Round } from "./schedule.ts";
import type { Subject } from "./subject/subject.ts";

export interface Scene {
  readonly ground: Ground;
  readonly subject: Subject;
  readonly round: Round;
}
