// Histories of a cluster that broke a promise, each made from a good recording by one small change, with the check that has to
// find it. A check that nothing here fails proves nothing.
import assert from "node:assert/strict";
import type { CheckName } from "./judge.ts";
import type { Answer, KeyValue, Operation, Recording, Watch, WatchEvent, WatchResponse } from "./recording.ts";

export interface BadHistory {
  readonly what: string;
  readonly check: CheckName;
  /** What the check says. */
  readonly why: RegExp;
  readonly spoil: (recording: Recording) => void;
}

function found<T>(value: T | undefined, what: string): T {
  assert.ok(value !== undefined, `the good history has no ${what}`);
  return value;
}

const isAnswered = ({ Output }: Operation): boolean => Output.Error === "";

/** Reads of one key as it is now, that found it. */
const isPlainGet = (one: Operation): boolean =>
  isAnswered(one) && one.Input.Range?.Revision === 0 && one.Input.Range.End === "" && keyValues(one).length === 1;

const keyValues = ({ Output }: Operation): KeyValue[] => Output.Range?.KVs ?? [];

const isPut = (one: Operation): boolean =>
  isAnswered(one) &&
  one.Input.Txn?.OperationsOnSuccess?.length === 1 &&
  one.Input.Txn.OperationsOnSuccess[0]?.Type === "put-operation" &&
  (one.Input.Txn.Conditions ?? []).length === 0;

function firstKeyValue(one: Operation): KeyValue {
  return found(keyValues(one)[0], "key in an answer");
}

const bogus = { Key: "key/5", Value: { Value: "never" }, ModRevision: 2, Version: 1 };

/** Responses of a watch that have events. */
const withEvents = ({ Responses = [] }: Watch): (WatchResponse & { Events: WatchEvent[] })[] =>
  Responses.filter((one): one is WatchResponse & { Events: WatchEvent[] } => (one.Events ?? []).length > 0);

/** The longest watch of somebody who followed a member. */
function followed(recording: Recording, is: (watch: Watch) => boolean = () => true): Watch {
  const watches = recording.followers.flatMap(({ watches }) => watches).filter(is);
  return found(
    watches.toSorted((a, b) => withEvents(b).length - withEvents(a).length)[0],
    "watch that follows a member",
  );
}

function middle<T>(values: readonly T[], what: string): T {
  return found(values[Math.floor(values.length / 2)], what);
}

function append(recording: Recording, key: string, value: string, revision: number, read: Answer): void {
  const operations = recording.operations;
  const example = structuredClone(found(operations.find(isPut), "put"));
  const get = structuredClone(found(operations.find(isPlainGet), "get"));
  const end = Math.max(...operations.map(({ Return }) => Return));
  Object.assign(example, { ClientId: 99_999, Call: end + 1000, Return: end + 2000 });
  example.Output.Revision = revision;
  const put = found(example.Input.Txn?.OperationsOnSuccess?.[0], "put").Put;
  Object.assign(put, { Key: key, Value: { Value: value }, LeaseID: 0 });
  Object.assign(get, { ClientId: 99_999, Call: end + 3000, Return: end + 4000, Output: read });
  found(get.Input.Range ?? undefined, "range").Start = key;
  found(recording.clients[0], "client").operations.push(example, get);
}

const ofRequests: readonly BadHistory[] = [
  {
    what: "a database that was not empty",
    check: "assumptions",
    why: /non empty database at start/,
    spoil(recording) {
      for (const client of recording.clients)
        client.operations = client.operations.filter(({ Output }) => Output.Revision !== 1);
    },
  },
  {
    what: "two requests of one client at once",
    check: "assumptions",
    why: /concurrent request/,
    spoil(recording) {
      const { operations } = found(
        recording.clients.find((client) => client.operations.length > 20),
        "busy client",
      );
      const at = operations.findIndex((one, index) => one.ClientId === operations[index - 1]?.ClientId);
      const [before, after] = [found(operations[at - 1], "operation"), found(operations[at], "operation")];
      after.Call = before.Return - 1;
    },
  },
  {
    what: "a stale read",
    check: "linearization",
    why: /illegal/,
    spoil(recording) {
      const gets = recording.operations.filter(isPlainGet);
      for (const late of gets.toReversed()) {
        const early = gets.find(
          (one) =>
            one.Return < late.Call &&
            firstKeyValue(one).Key === firstKeyValue(late).Key &&
            firstKeyValue(one).ModRevision !== firstKeyValue(late).ModRevision,
        );
        if (early === undefined) continue;
        late.Output.Range = structuredClone(early.Output.Range);
        return;
      }
      assert.fail("nobody read a key twice");
    },
  },
  {
    what: "an acknowledged write that was lost",
    check: "linearization",
    why: /illegal/,
    spoil(recording) {
      const last = found(
        recording.operations.findLast((one) => isAnswered(one) && one.Input.Range?.Start === "key/"),
        "last read",
      );
      const kept = firstKeyValue(last);
      const read = { ...last.Output, Range: { KVs: [kept], Count: 1 } };
      append(recording, kept.Key, "lost", last.Output.Revision + 1, read);
    },
  },
  {
    what: "a revision that goes backwards",
    check: "linearization",
    why: /illegal/,
    spoil(recording) {
      const puts = recording.operations.filter(isPut);
      const late = middle(puts, "put");
      const early = found(
        puts.find((one) => one.Return < late.Call && one.Output.Revision < late.Output.Revision),
        "earlier put",
      );
      [early.Output.Revision, late.Output.Revision] = [late.Output.Revision, early.Output.Revision];
    },
  },
  {
    what: "a write that took effect twice",
    check: "linearization",
    why: /illegal/,
    spoil(recording) {
      const read = firstKeyValue(middle(recording.operations.filter(isPlainGet), "get"));
      read.Version = (read.Version ?? 0) + 1;
    },
  },
  {
    what: "a swap that won although the key had changed",
    check: "linearization",
    why: /illegal/,
    spoil(recording) {
      const lost = found(
        recording.operations.find(
          ({ Input, Output }) =>
            Output.Txn?.Failure === true &&
            Input.Txn?.Conditions?.length === 1 &&
            Input.Txn.OperationsOnSuccess?.length === 1,
        ),
        "swap that was lost",
      );
      lost.Output.Txn = { Failure: false, Results: [{ KVs: null, Count: 0, Deleted: 0 }] };
    },
  },
  {
    what: "keys that outlive their lease",
    check: "linearization",
    why: /illegal/,
    spoil(recording) {
      // The revocation deleted a key, which took a revision of its own; the answer says that it did not.
      const deletions = eventsOf(followed(recording)).filter(({ Type }) => Type === "delete-operation");
      const { operations } = recording;
      const revoked = found(
        operations.find(({ Input, Output }) => {
          const isOf = (type: string, other: Operation): boolean =>
            other.Input.Type === type && other.Output.Revision === Output.Revision;
          return (
            Input.Type === "leaseRevoke" &&
            deletions.some(({ Revision }) => Revision === Output.Revision) &&
            operations.filter((other) => isOf("leaseRevoke", other)).length === 1 &&
            !operations.some((other) => isOf("txn", other))
          );
        }),
        "lease that was revoked and had a key",
      );
      revoked.Output.Revision -= 1;
    },
  },
  {
    what: "a lease that was granted twice",
    check: "leases",
    why: /granted twice/,
    spoil(recording) {
      const client = found(
        recording.clients.find(({ operations }) => operations.filter(isGrant).length > 1),
        "client with two leases",
      );
      const [first, second] = client.operations.filter(isGrant).map(({ Input }) => Input.LeaseGrant?.LeaseID);
      for (const { Input } of client.operations) {
        const uses = [
          Input.LeaseGrant,
          Input.LeaseRevoke,
          ...(Input.Txn?.OperationsOnSuccess ?? []).map(({ Put }) => Put),
        ];
        for (const use of uses) if (use && first !== undefined && use.LeaseID === second) use.LeaseID = first;
      }
    },
  },
  {
    what: "a read at a revision that shows a key which was never there",
    check: "serializable",
    why: /didn't match/,
    spoil(recording) {
      const read = found(
        recording.operations.find(
          (one) => isAnswered(one) && (one.Input.Range?.Revision ?? 0) > 0 && one.Input.Range?.End !== "" && isOld(one),
        ),
        "list at a revision",
      );
      keyValues(read).push({ ...bogus, Key: "key/never" });
    },
  },
  {
    what: "a read at a revision that misses a change",
    check: "serializable",
    why: /didn't match/,
    spoil(recording) {
      const read = found(
        recording.operations.find(
          (one) => isAnswered(one) && (one.Input.Range?.Revision ?? 0) > 0 && keyValues(one).length > 0 && isOld(one),
        ),
        "read at a revision that found something",
      );
      firstKeyValue(read).Value = { Value: "before" };
    },
  },
  {
    what: "a member that answers by itself with what was never there",
    check: "local",
    why: /at revision \d+/,
    spoil(recording) {
      const reads = recording.clients.flatMap(({ local }) => local);
      keyValues(middle(reads, "serializable read")).push({ ...bogus, Key: "key/never" });
    },
  },
  {
    what: "a member that answers by itself from a revision that nobody persisted",
    check: "local",
    why: /never persisted/,
    spoil(recording) {
      const { Input } = middle(
        recording.clients.flatMap(({ local }) => local),
        "serializable read",
      );
      found(Input.Range ?? undefined, "range").Revision = recording.summary.lastRevision + 100;
    },
  },
  {
    what: "a cluster that does not take writes any more",
    check: "lastWrite",
    why: /no write succeeded/,
    spoil(recording) {
      recording.summary.lastWrite = false;
    },
  },
];

const isGrant = (one: Operation): boolean => one.Input.Type === "leaseGrant" && isAnswered(one);

/** The model compares reads at what was the newest revision, too: those would not be linearizable. */
const isOld = ({ Input, Output }: Operation): boolean => Output.Revision > (Input.Range?.Revision ?? 0);

const ofWatches: readonly BadHistory[] = [
  {
    what: "an event of a key that nobody asked for",
    check: "watch",
    why: /watch filter/,
    spoil(recording) {
      middle(eventsOf(followed(recording)), "event").Key = "other/1";
    },
  },
  {
    what: "events out of order",
    check: "watch",
    why: /broke Ordered/,
    spoil(recording) {
      // No notice is between them: that would be another promise that is broken.
      const { Responses = [] } = followed(recording);
      const half = Math.floor(Responses.length / 2);
      const hasEvents = (one: WatchResponse | undefined): boolean => (one?.Events ?? []).length > 0;
      const at = Responses.findIndex(
        (one, index) => index >= half && hasEvents(one) && hasEvents(Responses[index + 1]),
      );
      const [one, other] = [found(Responses[at], "response"), found(Responses[at + 1], "response after it")];
      [one.Events, other.Events] = [other.Events ?? [], one.Events ?? []];
    },
  },
  {
    what: "an event that comes twice",
    check: "watch",
    why: /broke Unique/,
    spoil(recording) {
      const { Events } = middle(withEvents(followed(recording)), "response");
      Events.push(structuredClone(found(Events.at(-1), "event")));
    },
  },
  {
    what: "a transaction split over two responses",
    check: "watch",
    why: /broke Atomic/,
    spoil(recording) {
      const { Responses = [] } = followed(recording);
      for (const [at, { Events = [], ...rest }] of Responses.entries()) {
        const cut = Events.findIndex((event, index) => event.Revision === Events[index - 1]?.Revision);
        if (cut < 1) continue;
        Responses.splice(at, 1, { ...rest, Events: Events.slice(0, cut) }, { ...rest, Events: Events.slice(cut) });
        return;
      }
      assert.fail("no response has two events of one revision");
    },
  },
  {
    what: "an event after a notice that all up to it had come",
    check: "watch",
    why: /broke Bookmarkable/,
    spoil(recording) {
      const { Responses = [] } = followed(recording, ({ Responses: all = [] }) =>
        all.some(
          (one, at) => one.IsProgressNotify === true && all.slice(at).some(({ Events = [] }) => Events.length > 0),
        ),
      );
      const at = Responses.findIndex(
        (one, index) =>
          one.IsProgressNotify === true && Responses.slice(index).some(({ Events = [] }) => Events.length > 0),
      );
      const later = found(Responses.slice(at).find(({ Events = [] }) => Events.length > 0)?.Events?.[0], "later event");
      found(Responses[at], "progress notice").Revision = later.Revision;
    },
  },
  {
    what: "a watch that is resumed with a gap",
    check: "watch",
    why: /broke Resumable/,
    spoil(recording) {
      const resumed = found(
        recording.watches.find(
          (watch) => watch.Request.Revision > 2 && watch.Request.WithPrefix && withEvents(watch).length > 2,
        ),
        "watch that was resumed",
      );
      const first = found(withEvents(resumed)[0]?.Events[0], "event").Revision;
      for (const one of withEvents(resumed)) one.Events = one.Events.filter(({ Revision }) => Revision !== first);
    },
  },
  {
    what: "an event that is missing",
    check: "watch",
    why: /broke Reliable/,
    spoil(recording) {
      middle(withEvents(followed(recording)), "response").Events = [];
    },
  },
  {
    what: "an event with a value that was never written",
    check: "watch",
    why: /broke Reliable/,
    spoil(recording) {
      const puts = eventsOf(followed(recording)).filter(({ Type }) => Type === "put-operation");
      middle(puts, "put").Value = { Value: "never" };
    },
  },
  {
    what: "a new key that is called an old one",
    check: "watch",
    why: /IsCreate/,
    spoil(recording) {
      const events = eventsOf(followed(recording));
      delete middle(
        events.filter(({ IsCreate }) => IsCreate === true),
        "new key",
      ).IsCreate;
    },
  },
  {
    what: "an event with another value before it",
    check: "watch",
    why: /prevValue/,
    spoil(recording) {
      const events = eventsOf(followed(recording, ({ Request }) => Request.WithPrevKV));
      const { PrevValue } = middle(
        events.filter((event) => event.PrevValue !== undefined),
        "event with the value before it",
      );
      found(PrevValue, "value").Value = { Value: "never" };
    },
  },
  {
    what: "an event that nobody persisted",
    check: "watch",
    why: /never persisted/,
    spoil(recording) {
      const last = found(withEvents(followed(recording)).at(-1), "response");
      const event = structuredClone(found(last.Events.at(-1), "event"));
      event.Revision += 100;
      last.Events.push(event);
    },
  },
  {
    what: "a watch that does not get to the end",
    check: "delivered",
    why: /up to revision \d+ of \d+/,
    spoil(recording) {
      for (const watch of found(recording.followers[0], "follower").watches)
        watch.Responses = (watch.Responses ?? []).filter(
          ({ IsProgressNotify, Revision, Events = [] }) =>
            (IsProgressNotify === true ? Revision : (Events.at(-1)?.Revision ?? 0)) < recording.summary.lastRevision,
        );
    },
  },
];

function eventsOf(watch: Watch): WatchEvent[] {
  return withEvents(watch).flatMap(({ Events }) => Events);
}

export const badHistories: readonly BadHistory[] = [...ofRequests, ...ofWatches];
