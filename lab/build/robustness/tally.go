// Counts what became of the requests, and finds the longest time without an acknowledged write.
package main

import (
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
)

type kind int

const (
	reads kind = iota
	writes
)

type gap struct {
	Ms float64 `json:"ms"`
	// When it began: milliseconds after the recorder's clock began, and the time of day.
	FromMs float64   `json:"fromMs"`
	From   time.Time `json:"from"`
}

type tally struct {
	mu sync.Mutex
	// The newest revision that an answer showed.
	revision int64

	reads, failedReads                int
	acknowledged, unanswered, refused int
	began, lastAcknowledged           time.Duration
	longestFrom, longestTo            time.Duration
}

func (t *tally) begin(at time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began, t.lastAcknowledged = at, at
}

func (t *tally) saw(revision int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.revision = max(t.revision, revision)
}

func (t *tally) newest() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.revision
}

func (t *tally) count(of kind, end time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case of == reads && err == nil:
		t.reads++
	case of == reads:
		t.failedReads++
	case err == nil:
		t.acknowledged++
		t.noWriteUntil(end)
	case isRefusal(err):
		t.refused++
	default:
		t.unanswered++
	}
}

// Clients finish in any order, so an end may be before the last one.
func (t *tally) noWriteUntil(end time.Duration) {
	if end-t.lastAcknowledged > t.longestTo-t.longestFrom {
		t.longestFrom, t.longestTo = t.lastAcknowledged, end
	}
	t.lastAcknowledged = max(t.lastAcknowledged, end)
}

// The time until the end counts, too: a cluster that stops for good has no acknowledged write after its last.
func (t *tally) finish(at time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noWriteUntil(at)
}

// A member answered that it does not do this. Whoever gets no answer, or one that another member has to give, knows nothing.
func isRefusal(err error) bool {
	var said rpctypes.EtcdError
	if !errors.As(err, &said) {
		return false
	}
	switch said.Code() {
	case codes.Unavailable, codes.Unknown, codes.Internal, codes.DeadlineExceeded, codes.Canceled, codes.Aborted:
		return false
	}
	return true
}
