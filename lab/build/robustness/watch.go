// Clients that watch, each stream recorded as a watch of its own: one follows each member from the first revision to the last,
// some are cut and resumed, some look back.
package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	robust "go.etcd.io/etcd/tests/v3/robustness/client"
	"go.etcd.io/etcd/tests/v3/robustness/model"
)

const progressEvery = 250 * time.Millisecond

type watcher struct {
	id         int
	recorder   *recorder
	mu         sync.Mutex
	operations []model.WatchOperation
	// Every event up to here was seen, or is compacted.
	seen atomic.Int64
}

func (r *recorder) newWatcher() *watcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := &watcher{id: r.ids.NewClientID(), recorder: r}
	r.watchers = append(r.watchers, made)
	return made
}

// Watches until the context ends or the stream breaks. A watch that the members cancel because of a compaction goes on after
// the revision that was compacted.
func (w *watcher) watch(ctx context.Context, etcd *clientv3.Client, request model.WatchRequest) {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	w.mu.Lock()
	w.operations = append(w.operations, model.WatchOperation{Request: request, Responses: []model.WatchResponse{}})
	index := len(w.operations) - 1
	w.mu.Unlock()
	responses := etcd.Watch(ctx, request.Key, optionsOf(request)...)
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if request.WithProgressNotify {
				// Without an answer there is nothing to record; a stream that is broken ends by itself.
				_ = etcd.RequestProgress(ctx)
			}
		case response, open := <-responses:
			if !open {
				return
			}
			w.record(index, response)
			if response.Err() != nil {
				return
			}
		}
	}
}

func optionsOf(request model.WatchRequest) []clientv3.OpOption {
	options := []clientv3.OpOption{clientv3.WithRev(request.Revision)}
	if request.WithPrefix {
		options = append(options, clientv3.WithPrefix())
	}
	if request.WithProgressNotify {
		options = append(options, clientv3.WithProgressNotify())
	}
	if request.WithPrevKV {
		options = append(options, clientv3.WithPrevKV())
	}
	return options
}

func (w *watcher) record(index int, response clientv3.WatchResponse) {
	made := robust.ToWatchResponse(response, w.recorder.clock.base)
	w.mu.Lock()
	w.operations[index].Responses = append(w.operations[index].Responses, made)
	w.mu.Unlock()
	seen := response.CompactRevision
	if response.IsProgressNotify() {
		seen = response.Header.Revision
	}
	if count := len(response.Events); count > 0 {
		seen = response.Events[count-1].Kv.ModRevision
	}
	w.seen.Store(max(w.seen.Load(), seen))
	w.recorder.tally.saw(w.seen.Load())
}

// A connection of its own for each stream, so that a cut is one.
func (w *watcher) session(ctx context.Context, endpoints []string, request model.WatchRequest) {
	etcd, err := w.recorder.connection.dial(ctx, endpoints)
	if err != nil {
		return
	}
	defer etcd.Close()
	w.watch(ctx, etcd, request)
}

// Everything, from the first revision on.
func (w *watcher) follow(ctx context.Context, endpoint string, withPrevKV bool) {
	// The first revision of a database has no event.
	w.seen.Store(1)
	for ctx.Err() == nil {
		request := everything
		request.Revision = w.seen.Load() + 1
		request.WithPrevKV = withPrevKV
		w.session(ctx, []string{endpoint}, request)
		pause(ctx, 50*time.Millisecond)
	}
}

// From now, cut, resumed where it was, cut …, and then from now again.
func (w *watcher) beCut(ctx context.Context, endpoints []string, random *rand.Rand) {
	for ctx.Err() == nil {
		request := everything
		if random.IntN(3) == 0 {
			request = model.WatchRequest{Key: keys[random.IntN(len(keys))]}
		}
		request.WithPrevKV = random.IntN(2) == 0
		w.seen.Store(0)
		for range 5 {
			lasts, cancel := context.WithTimeout(ctx, time.Duration(150+random.IntN(600))*time.Millisecond)
			w.session(lasts, endpoints, request)
			cancel()
			if seen := w.seen.Load(); seen > 0 {
				request.Revision = seen + 1
			}
			pause(ctx, time.Duration(random.IntN(200))*time.Millisecond)
		}
	}
}

// From a revision in the past, for as long as it takes to catch up.
func (w *watcher) lookBack(ctx context.Context, endpoints []string, random *rand.Rand, compacted *atomic.Int64) {
	for ctx.Err() == nil {
		oldest, newest := compacted.Load()+1, w.recorder.tally.newest()
		if newest > oldest {
			request := everything
			request.Revision = oldest + random.Int64N(newest-oldest)
			request.WithPrevKV = random.IntN(2) == 0
			lasts, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			w.session(lasts, endpoints, request)
			cancel()
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func pause(ctx context.Context, long time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}
