module lab/helm

go 1.26.0

require (
	helm.sh/helm/v3 v3.21.4
	helm.sh/helm/v4 v4.2.4
)
