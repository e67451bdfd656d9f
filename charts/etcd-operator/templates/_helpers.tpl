{{/* Names, labels and other parts that several templates share. */}}

{{- define "etcd-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The release's name, with that of the chart unless it is in it already. */}}
{{- define "etcd-operator.fullname" -}}
{{- $name := include "etcd-operator.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 57 | trimSuffix "-" }}
{{- end }}

{{- define "etcd-operator.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "etcd-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "etcd-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "etcd-operator.labels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
{{ include "etcd-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
name: etcd-operator
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "etcd-operator.serviceAccountName" -}}
{{- default (ternary (include "etcd-operator.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- define "etcd-operator.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where the operator of some namespaces has its permissions, as a list in YAML. */}}
{{- define "etcd-operator.watched" -}}
{{- toYaml (default (list (include "etcd-operator.namespace" .)) .Values.watchNamespaces) }}
{{- end }}

{{/* Rules of files/permissions.yaml, without Secrets where no cluster has any. Give a dict with root and rules. */}}
{{- define "etcd-operator.rules" -}}
{{- $rules := list }}
{{- range .rules }}
{{- if or $.root.Values.rbac.secrets (not (has "secrets" .resources)) }}
{{- $rules = append $rules . }}
{{- end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{- define "etcd-operator.subjects" -}}
- kind: ServiceAccount
  name: {{ include "etcd-operator.serviceAccountName" . }}
  namespace: {{ include "etcd-operator.namespace" . }}
{{- end }}
