// etcd 3.2 is older than Go modules and names no versions itself. These are the ones of its time where they still
// compile, and newer ones where the old cannot run on a current Go (bbolt, codec).
module lab/etcd-3.2

go 1.26.0

require (
	github.com/bgentry/speakeasy v0.1.0
	github.com/cockroachdb/cmux v0.0.0-20170110192607-30d10be49292
	github.com/coreos/bbolt v1.3.2
	github.com/coreos/etcd v3.2.13+incompatible
	github.com/coreos/go-semver v0.3.1
	github.com/coreos/go-systemd v0.0.0-20190321100706-95778dfbb74e
	github.com/coreos/pkg v0.0.0-20180928190104-399ea9e2e55f
	github.com/dgrijalva/jwt-go v3.0.0+incompatible
	github.com/dustin/go-humanize v1.0.1
	github.com/ghodss/yaml v1.0.0
	github.com/gogo/protobuf v1.3.2
	github.com/golang/groupcache v0.0.0-20210331224755-41bb18bfe9da
	github.com/golang/protobuf v1.3.5
	github.com/google/btree v1.1.3
	github.com/grpc-ecosystem/go-grpc-prometheus v1.2.0
	github.com/grpc-ecosystem/grpc-gateway v1.3.0
	github.com/jonboulle/clockwork v0.1.0
	github.com/olekukonko/tablewriter v0.0.1
	github.com/prometheus/client_golang v0.9.4
	github.com/spf13/cobra v0.0.3
	github.com/ugorji/go/codec v1.2.12
	github.com/urfave/cli v1.18.0
	github.com/xiang90/probing v0.0.0-20190116061207-43a291ad63a2
	google.golang.org/genproto v0.0.0-20180817151627-c66870c02cf8
	google.golang.org/grpc v1.7.5
	gopkg.in/cheggaaa/pb.v1 v1.0.28
)

require (
	github.com/mattn/go-runewidth v0.0.31
	github.com/spf13/pflag v1.0.10
	golang.org/x/time v0.16.0
)

replace (
	github.com/coreos/bbolt => go.etcd.io/bbolt v1.3.11
	github.com/coreos/etcd => ./source
	google.golang.org/grpc => google.golang.org/grpc v1.7.5
)
