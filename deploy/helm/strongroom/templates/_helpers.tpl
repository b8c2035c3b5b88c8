{{- define "strongroom.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "strongroom.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "strongroom.labels" -}}
{{ include "strongroom.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "strongroom.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (ternary (include "strongroom.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "strongroom.scheme" -}}
{{ ternary "https" "http" (ne .Values.tls.existingSecret "") }}
{{- end }}

{{- define "strongroom.replicas" -}}
{{ ternary 1 (int .Values.replicas) (eq .Values.storage.type "lmdb") }}
{{- end }}
