// What clients ask for, drawn at random. Values are unique and short, and keys few: that keeps judging quick, and the model
// hashes values of 20 bytes and more. Leases do not expire, because the model knows no time: an expiry would be a write that no
// client made.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"golang.org/x/time/rate"
)

const (
	prefix       = "key/"
	leaseSeconds = 24 * 60 * 60
	// Revisions that a compaction leaves, so that a watch which is cut can be resumed.
	kept = 200
	// After a write without an answer. Each such write doubles the states that the judge has to consider.
	shortestPause = 100 * time.Millisecond
	longestPause  = time.Second
)

var (
	prefixEnd  = clientv3.GetPrefixRangeEnd(prefix)
	keys       = tenKeys()
	everything = model.WatchRequest{Key: prefix, WithPrefix: true, WithProgressNotify: true}
)

func tenKeys() []string {
	made := make([]string, 10)
	for at := range made {
		made[at] = fmt.Sprintf("%s%d", prefix, at)
	}
	return made
}

type traffic struct {
	client    *client
	random    *rand.Rand
	limiter   *rate.Limiter
	values    *atomic.Int64
	compacted *atomic.Int64
	// What it last read of each key.
	modified map[string]int64
	lease    clientv3.LeaseID
}

type request struct {
	weight int
	send   func(*traffic) error
}

var requests = []request{
	{14, (*traffic).get},
	{6, (*traffic).list},
	{8, (*traffic).readOld},
	{8, (*traffic).readLocal},
	{26, (*traffic).put},
	{14, (*traffic).compareAndSwap},
	{10, (*traffic).transaction},
	{5, (*traffic).deleteInTransaction},
	{3, (*traffic).delete},
	{6, (*traffic).useLease},
}

func (t *traffic) run(ctx context.Context) {
	wait := shortestPause
	for t.limiter.Wait(ctx) == nil {
		if err := t.draw().send(t); err == nil || isRefusal(err) {
			wait = shortestPause
			continue
		}
		pause(ctx, wait)
		wait = min(2*wait, longestPause)
	}
}

func (t *traffic) draw() request {
	total := 0
	for _, one := range requests {
		total += one.weight
	}
	at := t.random.IntN(total)
	for _, one := range requests {
		if at -= one.weight; at < 0 {
			return one
		}
	}
	panic("the weights do not add up")
}

func (t *traffic) key() string { return keys[t.random.IntN(len(keys))] }

// Different ones: a transaction may not put a key twice.
func (t *traffic) someKeys(count int) []string {
	chosen := make([]string, count)
	for at, index := range t.random.Perm(len(keys))[:count] {
		chosen[at] = keys[index]
	}
	return chosen
}

func (t *traffic) value() string { return fmt.Sprintf("v%d", t.values.Add(1)) }

func (t *traffic) get() error { return t.refresh(t.key()) }

func (t *traffic) list() error {
	answer, err := t.client.get(prefix, prefixEnd, 0, int64(t.random.IntN(2)*3), t.random.IntN(4) == 0)
	if err != nil {
		return err
	}
	for _, kv := range answer.Kvs {
		t.modified[string(kv.Key)] = kv.ModRevision
	}
	return nil
}

func (t *traffic) readOld() error {
	oldest, newest := max(t.compacted.Load(), 1), t.client.recorder.tally.newest()
	if newest <= oldest {
		return t.get()
	}
	revision := oldest + t.random.Int64N(newest-oldest)
	if t.random.IntN(2) == 0 {
		_, err := t.client.get(t.key(), "", revision, 0, false)
		return err
	}
	_, err := t.client.get(prefix, prefixEnd, revision, 0, false)
	return err
}

func (t *traffic) readLocal() error {
	if t.random.IntN(2) == 0 {
		return t.client.getLocal(t.key(), "")
	}
	return t.client.getLocal(prefix, prefixEnd)
}

func (t *traffic) put() error { return t.client.put(t.key(), t.value()) }

// The key as it was last read: often it has changed since, and the swap is lost.
func (t *traffic) compareAndSwap() error {
	key := t.key()
	if t.random.IntN(2) == 0 {
		if err := t.refresh(key); err != nil {
			return err
		}
	}
	return t.client.txn(
		[]clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", t.modified[key])},
		[]clientv3.Op{clientv3.OpPut(key, t.value())},
		[]clientv3.Op{clientv3.OpGet(key)},
	)
}

func (t *traffic) refresh(key string) error {
	answer, err := t.client.get(key, "", 0, 0, false)
	if err != nil {
		return err
	}
	delete(t.modified, key)
	for _, kv := range answer.Kvs {
		t.modified[key] = kv.ModRevision
	}
	return nil
}

func (t *traffic) transaction() error {
	chosen := t.someKeys(4)
	var conditions []clientv3.Cmp
	if t.random.IntN(2) == 0 {
		conditions = []clientv3.Cmp{clientv3.Compare(clientv3.Version(chosen[0]), "=", 1+t.random.Int64N(3))}
	}
	return t.client.txn(
		conditions,
		[]clientv3.Op{
			clientv3.OpPut(chosen[0], t.value()),
			clientv3.OpPut(chosen[1], t.value()),
			clientv3.OpPut(chosen[2], t.value()),
			clientv3.OpGet(chosen[3]),
		},
		[]clientv3.Op{clientv3.OpPut(chosen[1], t.value()), clientv3.OpPut(chosen[2], t.value())},
	)
}

// With a put of a unique value, by which the judge finds in the log whether it took effect.
func (t *traffic) deleteInTransaction() error {
	chosen := t.someKeys(3)
	return t.client.txn(nil, []clientv3.Op{
		clientv3.OpDelete(chosen[0]),
		clientv3.OpPut(chosen[1], t.value()),
		clientv3.OpDelete(chosen[2]),
	}, nil)
}

func (t *traffic) delete() error { return t.client.delete(t.key()) }

// Grants first. Then two keys get the lease, and often it is revoked at once: later, others would have put those keys without it.
func (t *traffic) useLease() error {
	if t.lease == clientv3.NoLease {
		granted, err := t.client.grant(leaseSeconds)
		t.lease = granted
		return err
	}
	for _, key := range t.someKeys(2) {
		if err := t.client.putWithLease(key, t.value(), t.lease); err != nil {
			return err
		}
	}
	if t.random.IntN(3) == 0 {
		return nil
	}
	lease := t.lease
	t.lease = clientv3.NoLease
	return t.client.revoke(lease)
}

func compactNowAndThen(ctx context.Context, c *client, every time.Duration, compacted *atomic.Int64) {
	for {
		pause(ctx, every)
		if ctx.Err() != nil {
			return
		}
		// Readers keep away from what is about to go.
		if revision := c.recorder.tally.newest() - kept; revision > compacted.Load() {
			compacted.Store(revision)
			// What became of it is in the history.
			_ = c.compact(revision)
		}
	}
}
