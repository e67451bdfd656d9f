// `robustness judge`: passes a recording to etcd's validators, draws porcupine's page, and says of each check whether it passed,
// failed or was skipped. Skipped is not passed: a check that had nothing to check is skipped, too.
package main

import (
	"flag"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.etcd.io/etcd/tests/v3/robustness/validate"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

type folders []string

func (f *folders) String() string { return strings.Join(*f, ",") }

func (f *folders) Set(value string) error {
	*f = append(*f, value)
	return nil
}

type judgement struct {
	Checks checks `json:"checks"`
	Counts counts `json:"counts"`
	// What etcd's validators logged of what they found.
	Details []string `json:"details,omitempty"`
	Page    string   `json:"page,omitempty"`
}

func judge(args []string) (int, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return exitUnusable, errUsage
	}
	folder := args[0]
	var data folders
	set := flag.NewFlagSet("judge", flag.ContinueOnError)
	set.Var(&data, "data", "data folder of a member, also of one that was replaced (default: DIR/server-*)")
	timeout := set.Duration("timeout", 5*time.Minute, "for linearization; a history that takes longer failed")
	page := set.String("page", "", "draw porcupine's page there in any case (default: DIR/history.html when a check fails)")
	if err := set.Parse(args[1:]); err != nil || set.NArg() > 0 {
		return exitUnusable, errUsage
	}
	if len(data) == 0 {
		data, _ = filepath.Glob(filepath.Join(folder, "server-*"))
		sort.Strings(data)
	}
	// etcd's validators print differences to the standard output, which is for one line here.
	stdout := os.Stdout
	os.Stdout = os.Stderr
	said, err := judgeFolder(folder, data, *timeout, *page)
	os.Stdout = stdout
	if err != nil {
		return exitUnusable, err
	}
	if err := printLine(os.Stdout, said); err != nil {
		return exitUnusable, err
	}
	if anyFailed(&said.Checks) {
		return exitFailed, nil
	}
	return exitFine, nil
}

func anyFailed(c *checks) bool {
	for _, one := range c.all() {
		if one.Status == failed {
			return true
		}
	}
	return false
}

func judgeFolder(folder string, data []string, timeout time.Duration, page string) (*judgement, error) {
	reports, err := report.LoadClientReports(folder)
	if err != nil {
		return nil, err
	}
	local, err := loadLocal(folder, reports)
	if err != nil {
		return nil, err
	}
	recorded, err := loadSummary(folder)
	if err != nil {
		return nil, err
	}
	core, logged := observer.New(zapcore.ErrorLevel)
	lg := zap.New(core)
	persisted, whyNot := persistedRequests(lg, data)

	said := &judgement{Counts: count(reports)}
	said.Counts.LocalReads, said.Counts.Persisted = len(local), len(persisted)
	result := said.byEtcd(lg, reports, persisted, whyNot, timeout)
	said.byUs(reports, local, persisted, whyNot, recorded)

	said.Details = details(logged.All())
	if page == "" && anyFailed(&said.Checks) {
		page = filepath.Join(folder, "history.html")
	}
	if page != "" && canDraw(result.Linearization) {
		// Not by the result's own method, which draws nothing of a history that is bad.
		if err := porcupine.VisualizePath(result.Linearization.Model, result.Linearization.Info, page); err != nil {
			return nil, err
		}
		said.Page = page
	}
	return said, nil
}

func canDraw(result validate.LinearizationResult) bool {
	return result.Model.Step != nil && result.Status != validate.DeadlineExceeded
}

func (j *judgement) byEtcd(lg *zap.Logger, reports []report.ClientReport, persisted []model.EtcdRequest, whyNot error, timeout time.Duration) validate.RobustnessResult {
	if j.Counts.Operations == 0 {
		nothing := skip("no operation was recorded")
		j.Checks.Assumptions, j.Checks.Linearization, j.Checks.Watch, j.Checks.Serializable = nothing, nothing, nothing, nothing
		return validate.RobustnessResult{}
	}
	known := pass()
	judged := reports
	if whyNot == nil {
		if known = checkKnown(reports, model.NewReplay(persisted)); known.Status == failed {
			judged = withoutWatches(reports)
		}
	}
	result := validate.ValidateAndReturnVisualize(lg, validate.Config{}, judged, persisted, timeout)
	c := &j.Checks
	c.Assumptions = fromResult(result.Assumptions, "")
	c.Linearization = fromResult(result.Linearization.Result, "the assumptions do not hold")
	reason := "the history is not linearizable"
	if whyNot != nil {
		reason = whyNot.Error()
	}
	c.Watch = fromResult(result.Watch, reason)
	c.Serializable = fromResult(result.Serializable, reason)
	// etcd's validators pass what is not there.
	if known.Status == failed {
		c.Watch = known
	} else if c.Watch.Status == passed && j.Counts.WatchEvents == 0 {
		c.Watch = skip("no watch saw an event")
	}
	if c.Serializable.Status == passed && j.Counts.ReadsAtRevision == 0 {
		c.Serializable = skip("nobody read at a revision")
	}
	return result
}

func withoutWatches(reports []report.ClientReport) []report.ClientReport {
	var without []report.ClientReport
	for _, client := range reports {
		client.Watch = nil
		without = append(without, client)
	}
	return without
}

func (j *judgement) byUs(reports []report.ClientReport, local []localRead, persisted []model.EtcdRequest, whyNot error, recorded *summary) {
	c := &j.Checks
	if whyNot == nil {
		c.Local = checkLocal(local, model.NewReplay(persisted))
	} else {
		c.Local = skip(whyNot.Error())
	}
	c.Leases = checkLeases(reports, j.Counts.Leases)
	c.LastWrite = checkLastWrite(recorded)
	c.Delivered = checkDelivered(recorded, reports)
}

const mostDetails = 10

func details(entries []observer.LoggedEntry) []string {
	var said []string
	for _, entry := range entries {
		if len(said) == mostDetails {
			break
		}
		encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "message"})
		line, err := encoder.EncodeEntry(entry.Entry, entry.Context)
		if err != nil {
			continue
		}
		said = append(said, strings.TrimSpace(line.String()))
	}
	return said
}
