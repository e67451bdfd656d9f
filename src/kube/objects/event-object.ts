// The Event object for something that happened, within all the limits at which the API server would refuse it.
import { randomUUID } from "node:crypto";
import type { Event } from "./kinds.ts";
import { apiVersionOf, microTime, type Kind, type KubeObject } from "./objects.ts";
import { printableLine } from "./printable.ts";

export interface NewEvent {
  type: "Normal" | "Warning";
  /** Why, as one CamelCase word. */
  reason: string;
  /** What was done or tried, as one CamelCase word. */
  action: string;
  /** One sentence for people. */
  note: string;
}

export interface Reporter {
  /** The program: a qualified name such as `etcd-operator` or `example.com/etcd-operator`. */
  controller: string;
  /** This process of it: the pod's name. */
  instance: string;
}

interface Series {
  count: number;
  lastObserved: Date;
}

type Regarding = NonNullable<Event["regarding"]>;

export function regarding<T extends KubeObject>(kind: Kind<T>, object: T): Regarding {
  const { name = "", namespace, uid } = object.metadata ?? {};
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** Events are namespaced; what is said of cluster-scoped objects goes to `default`. */
function eventNamespace(about: Regarding): string {
  return about.namespace || "default";
}

export function eventObject(about: Regarding, what: NewEvent, by: Reporter, first: Date, series: Series): Event {
  return {
    metadata: { namespace: eventNamespace(about), name: eventName(about.name ?? "") },
    eventTime: microTime(first),
    regarding: about,
    type: what.type,
    reason: cut(what.reason, 128),
    action: cut(what.action, 128),
    note: cut(printableLine(what.note), 1024),
    reportingController: by.controller,
    reportingInstance: cut(by.instance, 128),
    // The server takes a series only from the second time on.
    ...(series.count < 2 ? {} : { series: seriesObject(series) }),
  };
}

export function seriesObject(series: Series): NonNullable<Event["series"]> {
  return { count: series.count, lastObservedTime: microTime(series.lastObserved) };
}

/** A DNS name of at most 253 characters, unlike any other. */
function eventName(name: string): string {
  const stem = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, "-")
    .slice(0, 200)
    .replaceAll(/(^[.-]+|[.-]+$)/g, "");
  return `${stem || "event"}.${randomUUID().replaceAll("-", "").slice(0, 16)}`;
}

/** The API server counts bytes. A character is never cut in two. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const end = "…";
  let kept = "";
  let size = Buffer.byteLength(end);
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    kept += character;
  }
  return kept + end;
}
