// Listens to the parts of the runtime and tells both the metrics and the log. The log stays quiet while all is well.
import type { SentRequest } from "../client/api-server.ts";
import type { ControllerEvent } from "../controller/controller.ts";
import type { EventOutcome } from "../objects/events.ts";
import type { InformerEvent } from "../cache/informer.ts";
import type { LeaseNews } from "../leader/lease.ts";
import type { Logger } from "./log.ts";
import type { Key } from "../objects/objects.ts";
import { keyText } from "../objects/objects.ts";
import { RuntimeMetrics } from "./runtime-metrics.ts";

export class RuntimeObserver {
  readonly log: Logger;
  readonly metrics: RuntimeMetrics;

  constructor(log: Logger, metrics: RuntimeMetrics = new RuntimeMetrics()) {
    this.log = log;
    this.metrics = metrics;
  }

  /** For `ControllerOptions.observe`. */
  controller(name: string): (event: ControllerEvent) => void {
    const count = this.metrics.controller(name);
    const log = this.log.with({ controller: name });
    return (event) => {
      count(event);
      logController(log, event);
    };
  }

  /** For `InformerOptions.observe`. */
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

  /** For `LeadOptions.onNews`. */
  lease(controller: string, lease: Key): (news: LeaseNews) => void {
    const count = this.metrics.lease(lease.name);
    const log = this.log.with({ controller, lease: keyText(lease) });
    return (news) => {
      count(news);
      logLease(log, news);
    };
  }

  /** For `EventRecorderOptions.observe`. */
  readonly event = (outcome: EventOutcome): void => {
    this.metrics.event(outcome);
    if (outcome.type === "failed") this.log.warn("event not sent", { error: outcome.error });
  };
}

function logController(log: Logger, event: ControllerEvent): void {
  if (event.type === "passEnded") {
    const { key, id: pass, next, tookMs, writes, cutShort } = event;
    if (next.next !== "failed" || cutShort === "stop") log.debug("pass ended", { key, pass, next, tookMs, writes });
    else if (next.retry === "never") log.error("pass failed for good", { key, pass, error: next.error, tookMs });
    else log.warn("pass failed", { key, pass, error: next.error, tookMs, cutShort });
  } else if (event.type === "passOverdue") {
    log.warn("pass is overdue and was told to end", { key: event.key, pass: event.id });
  } else if (event.type === "cachesLag") {
    const missing = event.missing.map((write) => `${write.kind.kind} ${keyText(write.key)}`);
    log.warn("caches did not show own writes in time", { key: event.key, waitedMs: event.waitedMs, missing });
  } else if (event.type === "queue" && event.event.type === "threw") {
    log.error("queue work threw", { key: event.event.key, error: event.event.error });
  }
}

function logInformer(log: Logger, event: InformerEvent): void {
  const { type, ...fields } = event;
  switch (type) {
    case "failed":
      return log.warn("list or watch failed", fields);
    case "olderListRefused":
      return log.warn("the server showed the past; not believed", fields);
    case "olderListBelieved":
      return log.error("the server showed the past for so long that it is believed now", fields);
    case "forbidden":
      if (!event.first) return log.debug("still forbidden", { retryInMs: event.retryInMs });
      return log.warn(
        `${event.kind.plural} may not be listed or watched, so ${event.without}: grant list and watch on ${event.kind.plural}.`,
      );
    case "permitted":
      return log.info("may be listed and watched now");
    case "threw":
      return log.error("code given to an informer threw", fields);
    case "listed":
    case "watching":
    case "watchEnded":
      return log.debug(type, fields);
  }
}

function logLease(log: Logger, news: LeaseNews): void {
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
      return log.warn("lease could not be read or written", { error: news.error });
  }
}
