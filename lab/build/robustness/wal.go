// What the members persisted, by their write-ahead logs. etcd's own code merges the logs and turns them into requests of the
// model; it gives up at requests that robustness tests do not make, like those of authentication, so it gets logs in which those
// are empty.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const laterSettings = "users, roles or alarms changed at raft index %d, while clients wrote: members may have refused to apply what is in their logs"

var errNoData = errors.New("no data folder of a member was given")

// All that was persisted, in order. An error says why that is not known; then nothing can be judged by it.
func persistedRequests(lg *zap.Logger, folders []string) (requests []model.EtcdRequest, err error) {
	if len(folders) == 0 {
		return nil, errNoData
	}
	scratch, err := os.MkdirTemp("", "robustness-wal-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	// etcd's code panics at what it does not know.
	defer func() {
		if cause := recover(); cause != nil {
			requests, err = nil, fmt.Errorf("the logs have what the model does not know: %v", cause)
		}
	}()
	var copies []string
	for at, folder := range folders {
		to := filepath.Join(scratch, fmt.Sprint(at))
		if err := copyForModel(lg, folder, to); err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		copies = append(copies, to)
	}
	return report.PersistedRequests(lg, copies)
}

func copyForModel(lg *zap.Logger, from, to string) error {
	state, entries, err := readLog(lg, from, to)
	if err != nil {
		return err
	}
	modelled := false
	for _, entry := range entries {
		if entry.GetType() != raftpb.EntryNormal || len(entry.Data) == 0 {
			continue
		}
		if isOfOlderStore(entry.Data) {
			entry.Data = nil
			continue
		}
		var request pb.InternalRaftRequest
		// etcd's code says which of those that cannot be read do not matter.
		if proto.Unmarshal(entry.Data, &request) != nil {
			continue
		}
		switch bearing(&request) {
		case onTheData:
			modelled = true
		case onWhatIsApplied:
			if modelled {
				return fmt.Errorf(laterSettings, entry.GetIndex())
			}
			entry.Data = nil
		case onNothing:
			entry.Data = nil
		case onTheCluster:
		}
	}
	folder := datadir.ToWALDir(to)
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	log, err := wal.Create(lg, folder, nil)
	if err != nil {
		return err
	}
	log.SetUnsafeNoFsync()
	if state == nil {
		state = &raftpb.HardState{}
	}
	return errors.Join(log.Save(state, entries), log.Close())
}

func init() {
	// Copies are small, and a segment is allocated before it is filled.
	wal.SegmentSizeBytes = 4 << 20
}

// The log of a member that was killed may end in the middle of a record. Its repair writes, so it is done on a copy.
func readLog(lg *zap.Logger, from, scratch string) (*raftpb.HardState, []*raftpb.Entry, error) {
	state, entries, err := report.ReadAllWALEntries(lg, datadir.ToWALDir(from))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		torn := scratch + "-torn"
		if err := os.CopyFS(datadir.ToWALDir(torn), os.DirFS(datadir.ToWALDir(from))); err != nil {
			return nil, nil, err
		}
		state, entries, err = report.ReadWAL(lg, torn)
	}
	if err == nil && len(entries) == 0 {
		err = errors.New("there is no log in it")
	}
	return state, entries, err
}

// Members before 3.6 write their attributes and the cluster's version as requests to the store of etcd 2, which has a method
// and a path. Clients cannot reach that store. As a request of today, depending on its bytes, such an entry has a wrong type or
// is no message at all, and etcd's code passes over only the first.
func isOfOlderStore(data []byte) bool {
	const methodField, pathField = 2, 3
	var method, path string
	for len(data) > 0 {
		field, kind, size := protowire.ConsumeTag(data)
		if size < 0 {
			return false
		}
		data = data[size:]
		rest := protowire.ConsumeFieldValue(field, kind, data)
		if rest < 0 {
			return false
		}
		if kind == protowire.BytesType && (field == methodField || field == pathField) {
			value, _ := protowire.ConsumeBytes(data)
			if field == methodField {
				method = string(value)
			} else {
				path = string(value)
			}
		}
		data = data[rest:]
	}
	return method == "SYNC" || method == "PUT" && strings.HasPrefix(path, "/0/")
}

type bears int

const (
	// Versions and members: etcd's code passes these over.
	onTheCluster bears = iota
	onTheData
	onNothing
	// It decides whether later requests are refused when members apply them, which their logs do not show.
	onWhatIsApplied
)

func bearing(request *pb.InternalRaftRequest) bears {
	switch {
	case request.Put != nil, request.DeleteRange != nil, request.Txn != nil, request.Compaction != nil,
		request.LeaseGrant != nil, request.LeaseRevoke != nil:
		return onTheData
	case request.Authenticate != nil, request.AuthStatus != nil, request.AuthUserGet != nil, request.AuthUserList != nil,
		request.AuthRoleGet != nil, request.AuthRoleList != nil, request.LeaseCheckpoint != nil, request.DowngradeVersionTest != nil:
		return onNothing
	case request.Alarm != nil && request.Alarm.Action == pb.AlarmRequest_GET:
		return onNothing
	case request.Alarm != nil, request.AuthEnable != nil, request.AuthDisable != nil, request.AuthUserAdd != nil,
		request.AuthUserDelete != nil, request.AuthUserChangePassword != nil, request.AuthUserGrantRole != nil,
		request.AuthUserRevokeRole != nil, request.AuthRoleAdd != nil, request.AuthRoleDelete != nil,
		request.AuthRoleGrantPermission != nil, request.AuthRoleRevokePermission != nil:
		return onWhatIsApplied
	}
	return onTheCluster
}
