// etcd 3.3 is older than Go modules and names no versions itself. These are the ones of its time where they still
// compile, and newer ones where the old cannot run on a current Go (bbolt, reflect2).
module lab/etcd-3.3

go 1.26.0

require (
	github.com/bgentry/speakeasy v0.1.0
	github.com/coreos/bbolt v1.3.2
	github.com/coreos/etcd v3.3.27+incompatible
	github.com/coreos/go-semver v0.3.1
	github.com/coreos/go-systemd v0.0.0-20190321100706-95778dfbb74e
	github.com/coreos/pkg v0.0.0-20180928190104-399ea9e2e55f
	github.com/dgrijalva/jwt-go v3.2.0+incompatible
	github.com/dustin/go-humanize v1.0.1
	github.com/gogo/protobuf v1.3.2
	github.com/golang/groupcache v0.0.0-20210331224755-41bb18bfe9da
	github.com/golang/protobuf v1.3.5
	github.com/google/btree v1.1.3
	github.com/google/uuid v1.0.0
	github.com/grpc-ecosystem/go-grpc-middleware v1.0.0
	github.com/grpc-ecosystem/go-grpc-prometheus v1.2.0
	github.com/grpc-ecosystem/grpc-gateway v1.4.1
	github.com/jonboulle/clockwork v0.1.0
	github.com/json-iterator/go v1.1.12
	github.com/modern-go/reflect2 v1.0.2
	github.com/olekukonko/tablewriter v0.0.1
	github.com/prometheus/client_golang v0.9.4
	github.com/soheilhy/cmux v0.1.4
	github.com/spf13/cobra v0.0.3
	github.com/tmc/grpc-websocket-proxy v0.0.0-20190109142713-0ad062ec5ee5
	github.com/urfave/cli v1.18.0
	github.com/xiang90/probing v0.0.0-20190116061207-43a291ad63a2
	go.uber.org/zap v1.10.0
	google.golang.org/genproto v0.0.0-20191108220845-16a3f7862a1a
	google.golang.org/grpc v1.26.0
	gopkg.in/cheggaaa/pb.v1 v1.0.28
	sigs.k8s.io/yaml v1.1.0
)

require (
	github.com/gorilla/websocket v1.5.3
	github.com/mattn/go-runewidth v0.0.31
	github.com/spf13/pflag v1.0.10
	go.uber.org/atomic v1.12.0
	go.uber.org/multierr v1.11.0
	golang.org/x/time v0.16.0
)

replace (
	github.com/coreos/bbolt => go.etcd.io/bbolt v1.3.11
	github.com/coreos/etcd => ./source
)
