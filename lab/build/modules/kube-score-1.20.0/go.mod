module lab/kube-score

go 1.24

require (
	github.com/zegl/kube-score v1.20.0
)
