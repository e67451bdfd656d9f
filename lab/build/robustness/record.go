// `robustness record`: clients send random requests and watch until the time is over or a signal comes; then a last write has
// to succeed, and every watcher has to see it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/etcd/tests/v3/robustness/identity"
	"golang.org/x/time/rate"
)

type recordOptions struct {
	connection connection
	out        string
	duration   time.Duration
	settle     time.Duration
	timeout    time.Duration
	compact    time.Duration
	seed       uint64
	clients    int
	rate       float64
}

// What the recorder prints, and leaves beside the recording for the judge.
type summary struct {
	Began           time.Time `json:"began"`
	Seconds         float64   `json:"seconds"`
	Seed            uint64    `json:"seed"`
	Operations      int       `json:"operations"`
	Reads           int       `json:"reads"`
	FailedReads     int       `json:"failedReads"`
	Acknowledged    int       `json:"acknowledged"`
	Unanswered      int       `json:"unanswered"`
	Refused         int       `json:"refused"`
	Rate            float64   `json:"rate"`
	LongestWriteGap gap       `json:"longestWriteGap"`
	LastWrite       bool      `json:"lastWrite"`
	LastRevision    int64     `json:"lastRevision"`
	Followers       []int     `json:"followers"`
}

func record(args []string) (int, error) {
	options := recordOptions{}
	set := flag.NewFlagSet("record", flag.ContinueOnError)
	options.connection.flags(set)
	set.StringVar(&options.out, "out", "", "folder to make for the recording")
	set.DurationVar(&options.duration, "duration", 0, "how long; 0 is until SIGTERM or SIGINT")
	set.DurationVar(&options.settle, "settle", 20*time.Second, "how long the last write may take, and then the watchers until they saw it")
	set.DurationVar(&options.timeout, "request-timeout", time.Second, "after which a request counts as unanswered")
	set.DurationVar(&options.compact, "compact-every", 2*time.Second, "how often to compact")
	set.Uint64Var(&options.seed, "seed", 1, "of what clients ask for")
	set.IntVar(&options.clients, "clients", 6, "how many; every third knows all endpoints, the others one each")
	set.Float64Var(&options.rate, "rate", 200, "at most this many steps a second, of all clients together; a step is one to three requests")
	if err := set.Parse(args); err != nil {
		return exitUnusable, errUsage
	}
	if options.connection.endpoints == "" || options.out == "" || options.clients < 1 || options.rate <= 0 || set.NArg() > 0 {
		return exitUnusable, errUsage
	}
	// What saves the recording removes what is there.
	if entries, err := os.ReadDir(options.out); err == nil && len(entries) > 0 {
		return exitUnusable, fmt.Errorf("%s is not empty", options.out)
	}
	return options.run()
}

func (o *recordOptions) run() (int, error) {
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	r := &recorder{
		connection: o.connection,
		timeout:    o.timeout,
		clock:      &clock{base: time.Now()},
		ids:        identity.NewIDProvider(),
		tally:      &tally{},
	}
	first, err := r.start(stopped, o.settle)
	if err != nil {
		return exitUnusable, err
	}
	watching, endWatching := context.WithCancel(context.Background())
	defer endWatching()
	followers, following := r.follow(watching)
	o.work(stopped, r, first)

	end := r.clock.now()
	r.tally.finish(end)
	patience, cancel := context.WithTimeout(context.Background(), o.settle)
	defer cancel()
	lastWrite := writeLast(patience, first)
	waitForFollowers(patience, followers, r.tally)
	endWatching()
	following.Wait()

	said := r.summarize(o.seed, end, lastWrite, followers)
	if err := r.save(o.out, said); err != nil {
		return exitUnusable, err
	}
	return exitFine, printLine(os.Stdout, said)
}

// The model begins with an empty database, so the first recorded read has to show one.
func (r *recorder) start(stopped context.Context, within time.Duration) (*client, error) {
	ctx, cancel := context.WithTimeout(stopped, within)
	defer cancel()
	first, err := r.newClient(ctx, r.connection.urls())
	if err != nil {
		return nil, err
	}
	for {
		answer, err := first.get(prefix, prefixEnd, 0, 0, false)
		if err == nil && answer.Header.Revision != 1 {
			return nil, fmt.Errorf("the database is not empty: its revision is %d, and the model begins with 1", answer.Header.Revision)
		}
		if err == nil {
			return first, nil
		}
		if pause(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return nil, fmt.Errorf("no member answered a read: %w", err)
		}
	}
}

// One for each endpoint.
func (r *recorder) follow(ctx context.Context) ([]*watcher, *sync.WaitGroup) {
	var followers []*watcher
	var running sync.WaitGroup
	for at, endpoint := range r.connection.urls() {
		w := r.newWatcher()
		followers = append(followers, w)
		running.Go(func() { w.follow(ctx, endpoint, at%2 == 0) })
	}
	return followers, &running
}

// A login costs the members a moment of hashing each, so clients log in before the time starts to run. One whose member is away
// begins later.
const connectWithin = 10 * time.Second

// Returns when the time is over and the last request has been answered.
func (o *recordOptions) work(stopped context.Context, r *recorder, first *client) {
	endpoints := r.connection.urls()
	limiter := rate.NewLimiter(rate.Limit(o.rate), 1)
	var values, compacted atomic.Int64
	var ctx context.Context
	dialing, endDialing := context.WithCancel(stopped)
	defer endDialing()
	begun := make(chan struct{})
	var connected, working sync.WaitGroup
	for at := range o.clients {
		mine := endpoints
		if at%3 != 2 {
			mine = endpoints[at%len(endpoints) : at%len(endpoints)+1]
		}
		connected.Add(1)
		working.Go(func() {
			c, err := r.newClient(dialing, mine)
			connected.Done()
			<-begun
			if err != nil {
				return
			}
			t := &traffic{
				client: c, random: o.random(at), limiter: limiter, values: &values, compacted: &compacted, modified: map[string]int64{},
			}
			t.run(ctx)
		})
	}
	waitAtMost(stopped, connectWithin, &connected)

	limit := context.WithCancel
	if o.duration > 0 {
		limit = func(parent context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(parent, o.duration)
		}
	}
	var end context.CancelFunc
	ctx, end = limit(stopped)
	defer end()
	context.AfterFunc(ctx, endDialing)
	r.tally.begin(r.clock.now())
	close(begun)
	fmt.Fprintln(os.Stderr, "recording")
	for at := range 2 {
		cut := r.newWatcher()
		working.Go(func() { cut.beCut(ctx, endpoints, o.random(1000+at)) })
	}
	back := r.newWatcher()
	working.Go(func() { back.lookBack(ctx, endpoints, o.random(2000), &compacted) })
	working.Go(func() { compactNowAndThen(ctx, first, o.compact, &compacted) })
	working.Wait()
}

func waitAtMost(ctx context.Context, long time.Duration, group *sync.WaitGroup) {
	limited, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	go func() {
		group.Wait()
		cancel()
	}()
	<-limited.Done()
}

func (o *recordOptions) random(stream int) *rand.Rand {
	return rand.New(rand.NewPCG(o.seed, uint64(stream)))
}

// And reads all of it, so that the history ends with what is there.
func writeLast(ctx context.Context, c *client) bool {
	for at := 0; ctx.Err() == nil; at++ {
		if c.put(keys[0], fmt.Sprintf("last%d", at)) == nil {
			_, err := c.get(prefix, prefixEnd, 0, 0, false)
			return err == nil
		}
		pause(ctx, shortestPause)
	}
	return false
}

func waitForFollowers(ctx context.Context, followers []*watcher, t *tally) {
	for _, w := range followers {
		for ctx.Err() == nil && w.seen.Load() < t.newest() {
			pause(ctx, 20*time.Millisecond)
		}
	}
}

func (r *recorder) summarize(seed uint64, end time.Duration, lastWrite bool, followers []*watcher) summary {
	t := r.tally
	seconds := (end - t.began).Seconds()
	said := summary{
		Began:        r.clock.base,
		Seconds:      seconds,
		Seed:         seed,
		Operations:   t.reads + t.failedReads + t.acknowledged + t.unanswered + t.refused,
		Reads:        t.reads,
		FailedReads:  t.failedReads,
		Acknowledged: t.acknowledged,
		Unanswered:   t.unanswered,
		Refused:      t.refused,
		Rate:         float64(t.reads+t.acknowledged) / seconds,
		LongestWriteGap: gap{
			Ms:     milliseconds(t.longestTo - t.longestFrom),
			FromMs: milliseconds(t.longestFrom),
			From:   r.clock.base.Add(t.longestFrom),
		},
		LastWrite:    lastWrite,
		LastRevision: t.revision,
	}
	for _, w := range followers {
		said.Followers = append(said.Followers, w.id)
	}
	return said
}

func milliseconds(long time.Duration) float64 { return float64(long.Microseconds()) / 1000 }
