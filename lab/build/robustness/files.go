// The folder of a recording: etcd's report (client-N/operations.json, client-N/watch.json, traffic.json), and beside it what
// that has no place for: the summary, and the reads that one member answered by itself.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anishathalye/porcupine"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.uber.org/zap"
)

const (
	summaryFile = "recording.json"
	localFile   = "local.json"
)

func clientFolder(folder string, id int) string {
	return filepath.Join(folder, fmt.Sprintf("client-%d", id))
}

func (r *recorder) save(folder string, said summary) error {
	// A transaction changes several keys at one revision.
	saved, err := report.NewTestReport(zap.NewNop(), folder, nil, &report.TrafficDetail{ExpectUniqueRevision: false})
	if err != nil {
		return err
	}
	saved.SetClientReports(r.reports())
	if err := saved.SaveEtcdData(); err != nil {
		return err
	}
	for _, c := range r.clients {
		c.etcd.Close()
		if err := saveLocal(clientFolder(folder, c.id), c.local); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(folder, summaryFile))
	if err != nil {
		return err
	}
	return errors.Join(printLine(file, said), file.Close())
}

func saveLocal(folder string, reads []porcupine.Operation) error {
	if len(reads) == 0 {
		return nil
	}
	file, err := os.Create(filepath.Join(folder, localFile))
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(file)
	encoder.SetIndent("", "  ")
	for _, read := range reads {
		if err := encoder.Encode(read); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return file.Close()
}

type localRead struct {
	Input  model.EtcdRequest
	Output model.MaybeEtcdResponse
}

func loadLocal(folder string, reports []report.ClientReport) ([]localRead, error) {
	var reads []localRead
	for _, client := range reports {
		file, err := os.Open(filepath.Join(clientFolder(folder, client.ClientID), localFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for decoder := json.NewDecoder(file); decoder.More(); {
			var read localRead
			if err := decoder.Decode(&read); err != nil {
				return nil, errors.Join(err, file.Close())
			}
			reads = append(reads, read)
		}
		file.Close()
	}
	return reads, nil
}

// Without a summary the recording was made by another program, or its recorder was killed.
func loadSummary(folder string) (*summary, error) {
	text, err := os.ReadFile(filepath.Join(folder, summaryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	said := &summary{}
	return said, json.Unmarshal(text, said)
}
