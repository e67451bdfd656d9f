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

const (
	progressEvery        = 250 * time.Millisecond
	streamsPerConnection = 3
)

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
	if ctx.Err() != nil {
		return
	}
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

// On a connection of its own, so that its end is a cut. Not one for each stream: a login costs a member more than a stream does.
func (w *watcher) connected(ctx context.Context, endpoints []string, use func(*clientv3.Client)) {
	etcd, err := w.recorder.connection.dial(ctx, endpoints)
	if err != nil {
		return
	}
	defer etcd.Close()
	use(etcd)
}

// Everything, from the first revision on.
func (w *watcher) follow(ctx context.Context, endpoint string, withPrevKV bool) {
	// The first revision of a database has no event.
	w.seen.Store(1)
	for ctx.Err() == nil {
		w.connected(ctx, []string{endpoint}, func(etcd *clientv3.Client) {
			for range streamsPerConnection {
				request := everything
				request.Revision = w.seen.Load() + 1
				request.WithPrevKV = withPrevKV
				w.watch(ctx, etcd, request)
				pause(ctx, 50*time.Millisecond)
			}
		})
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
		// The second connection resumes what the first watched.
		for range 2 {
			w.connected(ctx, endpoints, func(etcd *clientv3.Client) {
				for range streamsPerConnection {
					w.watchFor(ctx, time.Duration(150+random.IntN(450))*time.Millisecond, etcd, request)
					if seen := w.seen.Load(); seen > 0 {
						request.Revision = seen + 1
					}
					pause(ctx, time.Duration(random.IntN(150))*time.Millisecond)
				}
			})
		}
	}
}

// From a revision in the past, for as long as it takes to catch up.
func (w *watcher) lookBack(ctx context.Context, endpoints []string, random *rand.Rand, compacted *atomic.Int64) {
	for ctx.Err() == nil {
		w.connected(ctx, endpoints, func(etcd *clientv3.Client) {
			for range streamsPerConnection {
				pause(ctx, 100*time.Millisecond)
				oldest, newest := compacted.Load()+1, w.recorder.tally.newest()
				if newest <= oldest {
					continue
				}
				request := everything
				request.Revision = oldest + random.Int64N(newest-oldest)
				request.WithPrevKV = random.IntN(2) == 0
				w.watchFor(ctx, 500*time.Millisecond, etcd, request)
			}
		})
	}
}

func (w *watcher) watchFor(ctx context.Context, long time.Duration, etcd *clientv3.Client, request model.WatchRequest) {
	lasts, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	w.watch(lasts, etcd, request)
}

func pause(ctx context.Context, long time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}
