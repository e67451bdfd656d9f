// A client that records: every request with its times and its answer, in the history of etcd's own model. That history gives
// the operations after an unanswered write another id, because the write may still take effect at any later time.
package main

import (
	"context"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/tests/v3/robustness/identity"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
)

// One clock for all clients. It never shows the same time twice: an operation has to end after it began, and to begin after
// the one before it ended.
type clock struct {
	base time.Time
	mu   sync.Mutex
	last time.Duration
}

func (c *clock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last+1, time.Since(c.base))
	return c.last
}

type recorder struct {
	connection connection
	timeout    time.Duration
	clock      *clock
	ids        identity.Provider
	tally      *tally

	mu       sync.Mutex
	clients  []*client
	watchers []*watcher
}

type client struct {
	id       int
	recorder *recorder
	etcd     *clientv3.Client
	// Requests of one client never overlap.
	mu      sync.Mutex
	history *model.AppendableHistory
	// Reads that one member answered by itself. They are not linearizable, and the model has no request for them.
	local []porcupine.Operation
}

func (r *recorder) newClient(ctx context.Context, endpoints []string) (*client, error) {
	etcd, err := r.connection.dial(ctx, endpoints)
	if err != nil {
		return nil, err
	}
	made := &client{id: r.ids.NewClientID(), recorder: r, etcd: etcd, history: model.NewAppendableHistory(r.ids)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients = append(r.clients, made)
	return made, nil
}

// Sends one request while no other of this client is under way, and has it recorded and counted.
func ask[Answer any](
	c *client,
	of kind,
	send func(context.Context) (*Answer, error),
	record func(start, end time.Duration, answer *Answer, err error),
) (*Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Not below the context of the run: its end would make unanswered what was only late.
	ctx, cancel := context.WithTimeout(context.Background(), c.recorder.timeout)
	defer cancel()
	start := c.recorder.clock.now()
	answer, err := send(ctx)
	end := c.recorder.clock.now()
	record(start, end, answer, err)
	c.recorder.tally.count(of, end, err)
	return answer, err
}

func (c *client) get(from, to string, revision, limit int64, keysOnly bool) (*clientv3.GetResponse, error) {
	options := append(rangeTo(to), clientv3.WithRev(revision), clientv3.WithLimit(limit))
	if keysOnly {
		options = append(options, clientv3.WithKeysOnly())
	}
	return ask(c, reads, func(ctx context.Context) (*clientv3.GetResponse, error) {
		return c.etcd.Get(ctx, from, options...)
	}, func(start, end time.Duration, answer *clientv3.GetResponse, err error) {
		c.history.AppendRange(from, to, revision, limit, keysOnly, start, end, answer, err)
		if err == nil {
			c.recorder.tally.saw(answer.Header.Revision)
		}
	})
}

// A serializable read: one member answers from what it has. It is recorded as a read at the revision which that member says it
// has, because that is what the answer has to equal.
func (c *client) getLocal(from, to string) error {
	options := append(rangeTo(to), clientv3.WithSerializable())
	_, err := ask(c, reads, func(ctx context.Context) (*clientv3.GetResponse, error) {
		return c.etcd.Get(ctx, from, options...)
	}, func(start, end time.Duration, answer *clientv3.GetResponse, err error) {
		if err != nil {
			return
		}
		// A history of its own, only for how it turns an answer into the model's.
		alone := model.NewAppendableHistory(c.recorder.ids)
		alone.AppendRange(from, to, answer.Header.Revision, 0, false, start, end, answer, nil)
		c.local = append(c.local, alone.Operations()...)
	})
	return err
}

func rangeTo(end string) []clientv3.OpOption {
	if end == "" {
		return nil
	}
	return []clientv3.OpOption{clientv3.WithRange(end)}
}

func (c *client) put(key, value string) error {
	_, err := ask(c, writes, func(ctx context.Context) (*clientv3.PutResponse, error) {
		return c.etcd.Put(ctx, key, value)
	}, func(start, end time.Duration, answer *clientv3.PutResponse, err error) {
		c.history.AppendPut(key, value, start, end, answer, err)
		if err == nil {
			c.recorder.tally.saw(answer.Header.Revision)
		}
	})
	return err
}

func (c *client) putWithLease(key, value string, lease clientv3.LeaseID) error {
	_, err := ask(c, writes, func(ctx context.Context) (*clientv3.PutResponse, error) {
		return c.etcd.Put(ctx, key, value, clientv3.WithLease(lease))
	}, func(start, end time.Duration, answer *clientv3.PutResponse, err error) {
		c.history.AppendPutWithLease(key, value, int64(lease), start, end, answer, err)
		if err == nil {
			c.recorder.tally.saw(answer.Header.Revision)
		}
	})
	return err
}

func (c *client) delete(key string) error {
	_, err := ask(c, writes, func(ctx context.Context) (*clientv3.DeleteResponse, error) {
		return c.etcd.Delete(ctx, key)
	}, func(start, end time.Duration, answer *clientv3.DeleteResponse, err error) {
		c.history.AppendDelete(key, start, end, answer, err)
		if err == nil {
			c.recorder.tally.saw(answer.Header.Revision)
		}
	})
	return err
}

func (c *client) txn(conditions []clientv3.Cmp, then, otherwise []clientv3.Op) error {
	_, err := ask(c, writes, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return c.etcd.Txn(ctx).If(conditions...).Then(then...).Else(otherwise...).Commit()
	}, func(start, end time.Duration, answer *clientv3.TxnResponse, err error) {
		c.history.AppendTxn(conditions, then, otherwise, start, end, answer, err)
		if err == nil {
			c.recorder.tally.saw(answer.Header.Revision)
		}
	})
	return err
}

func (c *client) grant(seconds int64) (clientv3.LeaseID, error) {
	answer, err := ask(c, writes, func(ctx context.Context) (*clientv3.LeaseGrantResponse, error) {
		return c.etcd.Grant(ctx, seconds)
	}, c.history.AppendLeaseGrant)
	if err != nil {
		return clientv3.NoLease, err
	}
	return answer.ID, nil
}

func (c *client) revoke(lease clientv3.LeaseID) error {
	_, err := ask(c, writes, func(ctx context.Context) (*clientv3.LeaseRevokeResponse, error) {
		return c.etcd.Revoke(ctx, lease)
	}, func(start, end time.Duration, answer *clientv3.LeaseRevokeResponse, err error) {
		c.history.AppendLeaseRevoke(int64(lease), start, end, answer, err)
	})
	return err
}

func (c *client) compact(revision int64) error {
	_, err := ask(c, writes, func(ctx context.Context) (*clientv3.CompactResponse, error) {
		return c.etcd.Compact(ctx, revision)
	}, func(start, end time.Duration, answer *clientv3.CompactResponse, err error) {
		c.history.AppendCompact(revision, start, end, answer, err)
	})
	return err
}

// What all clients recorded. Only when none of them works any more.
func (r *recorder) reports() []report.ClientReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	var reports []report.ClientReport
	for _, c := range r.clients {
		reports = append(reports, report.ClientReport{ClientID: c.id, KeyValue: c.history.Operations()})
	}
	for _, w := range r.watchers {
		reports = append(reports, report.ClientReport{ClientID: w.id, Watch: w.operations})
	}
	return reports
}
