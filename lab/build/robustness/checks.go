// What a recording is judged by, and what came of each. Most checks are etcd's; those at the end are ours, for what etcd's tests
// assert while they record, or do not check.
package main

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.etcd.io/etcd/tests/v3/robustness/validate"
)

type status string

const (
	passed  status = "passed"
	failed  status = "failed"
	skipped status = "skipped"
)

type verdict struct {
	Status status `json:"status"`
	Why    string `json:"why,omitempty"`
}

type checks struct {
	// The database was empty at the start, and no client had two requests under way.
	Assumptions   verdict `json:"assumptions"`
	Linearization verdict `json:"linearization"`
	// Every guarantee of etcd's documentation. `Why` names the one that was broken.
	Watch verdict `json:"watch"`
	// Reads at a revision equal what was persisted up to it.
	Serializable verdict `json:"serializable"`
	// Reads that one member answered by itself equal what was persisted up to the revision that it said it has.
	Local verdict `json:"local"`
	// No lease was granted twice. To the model every grant is a new lease.
	Leases verdict `json:"leases"`
	// The last write was acknowledged.
	LastWrite verdict `json:"lastWrite"`
	// A watcher of each member saw the last revision. A stream that just ends breaks no guarantee of etcd's.
	Delivered verdict `json:"delivered"`
}

func (c *checks) all() []verdict {
	return []verdict{c.Assumptions, c.Linearization, c.Watch, c.Serializable, c.Local, c.Leases, c.LastWrite, c.Delivered}
}

func pass() verdict           { return verdict{Status: passed} }
func skip(why string) verdict { return verdict{Status: skipped, Why: why} }
func fail(format string, values ...any) verdict {
	return verdict{Status: failed, Why: fmt.Sprintf(format, values...)}
}

// A result without a status is one that etcd's code did not come to.
func fromResult(result validate.Result, whyNot string) verdict {
	switch result.Status {
	case validate.Success:
		return pass()
	case validate.Unknown:
		return skip(whyNot)
	}
	return fail("%s", result.String())
}

type counts struct {
	Operations      int `json:"operations"`
	WatchEvents     int `json:"watchEvents"`
	ReadsAtRevision int `json:"readsAtRevision"`
	LocalReads      int `json:"localReads"`
	Leases          int `json:"leases"`
	Persisted       int `json:"persisted"`
}

func count(reports []report.ClientReport) counts {
	var total counts
	for _, client := range reports {
		total.Operations += len(client.KeyValue)
		total.WatchEvents += client.WatchEventCount()
		for _, operation := range client.KeyValue {
			request := operation.Input.(model.EtcdRequest)
			answer := operation.Output.(model.MaybeEtcdResponse)
			if request.Type == model.Range && request.Range.Revision != 0 && answer.Error == "" {
				total.ReadsAtRevision++
			}
			if request.Type == model.LeaseGrant && answer.Error == "" {
				total.Leases++
			}
		}
	}
	return total
}

func checkLocal(reads []localRead, replay *model.EtcdReplay) verdict {
	if len(reads) == 0 {
		return skip("no member was asked to answer by itself")
	}
	for _, read := range reads {
		revision := read.Input.Range.Revision
		state, err := replay.StateForRevision(revision)
		if err != nil {
			return fail("a member answered at revision %d, which was never persisted", revision)
		}
		_, expected := state.Step(read.Input)
		if diff := cmp.Diff(expected.Range, read.Output.Range); diff != "" {
			return fail("member %x at revision %d: %s", uint64(read.Output.MemberID), revision, diff)
		}
	}
	return pass()
}

func checkLeases(reports []report.ClientReport, granted int) verdict {
	if granted == 0 {
		return skip("no lease was granted")
	}
	seen := map[int64]bool{}
	for _, client := range reports {
		for _, operation := range client.KeyValue {
			request := operation.Input.(model.EtcdRequest)
			if request.Type != model.LeaseGrant || operation.Output.(model.MaybeEtcdResponse).Error != "" {
				continue
			}
			id := request.LeaseGrant.LeaseID
			if id == 0 || seen[id] {
				return fail("lease %d was granted twice, or is none", id)
			}
			seen[id] = true
		}
	}
	return pass()
}

func checkLastWrite(said *summary) verdict {
	if said == nil {
		return skip("the recorder left no summary")
	}
	if !said.LastWrite {
		return fail("no write succeeded after the traffic ended")
	}
	return pass()
}

func checkDelivered(said *summary, reports []report.ClientReport) verdict {
	if said == nil {
		return skip("the recorder left no summary")
	}
	if len(said.Followers) == 0 {
		return skip("nobody watched each member to the end")
	}
	for _, id := range said.Followers {
		at := slices.IndexFunc(reports, func(client report.ClientReport) bool { return client.ClientID == id })
		if at < 0 {
			return fail("client %d recorded no watch", id)
		}
		if seen := lastSeen(reports[at].Watch); seen < said.LastRevision {
			return fail("client %d watched a member up to revision %d of %d", id, seen, said.LastRevision)
		}
	}
	return pass()
}

func lastSeen(watches []model.WatchOperation) int64 {
	var seen int64
	for _, watch := range watches {
		for _, response := range watch.Responses {
			if response.IsProgressNotify {
				seen = max(seen, response.Revision)
			}
			for _, event := range response.Events {
				seen = max(seen, event.Revision)
			}
		}
	}
	return seen
}

// etcd's code panics at an event of a revision that nobody persisted.
func checkKnown(reports []report.ClientReport, replay *model.EtcdReplay) verdict {
	for _, client := range reports {
		for _, watch := range client.Watch {
			for _, response := range watch.Responses {
				for _, event := range response.Events {
					if _, err := replay.StateForRevision(event.Revision); err != nil || event.Revision < 2 {
						return fail("client %d saw an event of revision %d, which was never persisted", client.ClientID, event.Revision)
					}
				}
			}
		}
	}
	return pass()
}
