// An Event as a controller records it: its reason and its type are a row in the table of reasons.
import { type EventName, eventReasons, type KnownEvent } from "../api/events.ts";

/** A reason and the sentence that goes with it. */
export type Note = readonly [name: EventName, note: string];

export function eventOf([name, note]: Note, action = "Report"): KnownEvent {
  const { reason, type } = eventReasons[name];
  return { type, reason, action, note };
}

/** Words of others as a sentence: with one full stop at its end, however many they bring along. */
export const sentence = (words: string): string => `${words.trim().replace(/\.+$/, "")}.`;
