// Listens to the parts of the runtime and feeds both the metrics and the log. The log stays quiet while all is well.
import { TransportError } from "../../transport/errors.ts";
import { ApiError, isRoutine } from "../client/errors.ts";
import type { SentRequest } from "../client/api-server.ts";
import type { ControllerEvent } from "../controller/controller.ts";
import type { EventOutcome } from "../objects/events.ts";
import type { InformerEvent } from "../cache/informer.ts";
import type { LeaseEvent } from "../leader/lease.ts";
import type { Fields, Logger } from "./log.ts";
import { keyText, type Key } from "../objects/objects.ts";
import { RuntimeMetrics } from "./runtime-metrics.ts";

export class RuntimeObserver {
  readonly log: Logger;
  readonly metrics: RuntimeMetrics;

  constructor(log: Logger, metrics: RuntimeMetrics = new RuntimeMetrics()) {
    this.log = log;
    this.metrics = metrics;
  }

  controller(name: string): (event: ControllerEvent) => void {
    const count = this.metrics.controller(name);
    const log = this.log.with({ controller: name });
    return (event) => {
      count(event);
      logController(log, event);
    };
  }

  informer(kind: string): (event: InformerEvent) => void {
    const count = this.metrics.informer(kind);
    const log = this.log.with({ kind });
    return (event) => {
      count(event);
      logInformer(log, event);
    };
  }

  /** For `KubeClientOptions.observeRequest`. Callers log what failed; here it is only counted. */
  readonly request = (sent: SentRequest): void => this.metrics.request(sent);

  lease(controller: string, lease: Key): (news: LeaseEvent) => void {
    const count = this.metrics.lease(lease.name);
    const log = this.log.with({ controller, lease: keyText(lease) });
    return (news) => {
      count(news);
      logLease(log, news);
    };
  }

  readonly event = (outcome: EventOutcome): void => {
    this.metrics.event(outcome);
    if (outcome.type === "failed") logFailure(this.log, "an event was not sent", outcome.error);
  };
}

function logController(log: Logger, event: ControllerEvent): void {
  if (event.type === "reconcileEnded") {
    const { key, id, next, tookMs, writes, cutShort } = event;
    if (next.next !== "failed" || cutShort === "stop") log.debug("reconciled", { key, id, next, tookMs, writes });
    else logFailure(log, "reconcile failed and is retried", next.error, { key, id, tookMs, cutShort });
  } else if (event.type === "reconcileOverdue") {
    log.warn("reconcile is over its deadline and was aborted", { key: event.key, id: event.id });
  } else if (event.type === "cachesLag") {
    const missing = event.missing.map((write) => `${write.kind.kind} ${keyText(write.key)}`);
    log.warn("the caches do not show writes of the last reconcile; continuing without them", {
      key: event.key,
      waitedMs: event.waitedMs,
      missing,
    });
  } else if (event.type === "queue" && event.event.type === "threw") {
    log.error("a worker of the queue threw", { key: event.event.key, error: event.event.error });
  }
}

function logInformer(log: Logger, event: InformerEvent): void {
  const { type, ...fields } = event;
  switch (type) {
    case "failed":
      return logFailure(log, `${event.doing} failed and is retried`, event.error, { retryInMs: event.retryInMs });
    case "olderListRefused":
      return log.warn("the server answered with an older state than it had shown before; asks again", fields);
    case "olderListBelieved":
      return log.error("the server has shown an older state for so long that it is taken for the current one", fields);
    case "forbidden":
      if (!event.first) return log.debug("still forbidden", { retryInMs: event.retryInMs });
      return log.warn(
        `${event.kind.plural} may not be listed or watched, so ${event.without}: grant list and watch on ${event.kind.plural}.`,
      );
    case "permitted":
      return log.info("may be listed and watched now");
    case "threw":
      return log.error(`the ${event.what} of an informer threw`, { error: event.error });
    case "listed":
    case "watching":
    case "watchEnded":
      return log.debug(type, fields);
  }
}

function logLease(log: Logger, news: LeaseEvent): void {
  switch (news.t) {
    case "leading":
      return log.info("leading");
    case "following":
      return log.info("following", { leader: news.leader });
    case "lost":
      return log.warn("leadership lost", { because: news.because });
    case "released":
      return log.info("lease released");
    case "attemptFailed":
      return logFailure(log, "the lease could not be read or written; tries again", news.error);
  }
}

/** A stack belongs to a bug of ours. For what a server or the network said it would only show how we asked. */
function logFailure(log: Logger, message: string, error: unknown, fields: Fields = {}): void {
  const fromOutside = error instanceof ApiError || error instanceof TransportError;
  const shown = { ...fields, error: fromOutside ? String(error) : error };
  if (isRoutine(error)) log.info(message, shown);
  else log.warn(message, shown);
}
