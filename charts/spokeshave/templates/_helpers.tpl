{{- define "spokeshave.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "spokeshave.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "spokeshave.selectorLabels" -}}
app.kubernetes.io/name: {{ include "spokeshave.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "spokeshave.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "spokeshave.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* metadata shared by every object: name and namespace are the caller's. */}}
{{- define "spokeshave.meta" -}}
labels:
  {{- include "spokeshave.labels" . | nindent 2 }}
{{- with .Values.additionalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "spokeshave.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "spokeshave.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "spokeshave.subject" -}}
- kind: ServiceAccount
  name: {{ include "spokeshave.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* The controller's own records, as names in a list of CEL. */}}
{{- define "spokeshave.records" -}}
'spokeshave-policy-status', 'spokeshave-ledger', 'spokeshave-ledger-previous', 'spokeshave-observed', 'spokeshave-breakers'
{{- range until 12 }}, 'spokeshave-spend-{{ printf "%02d" (add1 .) }}'{{ end }}
{{- end }}

{{/*
Policies are ConfigMaps, and the controller reads all of their namespace. In kube-system
that would be those of the cluster itself, and whoever may write there could do worse.
*/}}
{{- define "spokeshave.namespaces" -}}
{{- if and (has "kube-system" (append .Values.policies.pluginNamespaces .Release.Namespace)) (not .Values.policies.allowKubeSystem) }}
{{- fail "policies are not read from kube-system, whose ConfigMaps belong to the cluster: install into another namespace, or set policies.allowKubeSystem=true" }}
{{- end }}
{{- range $namespace, $_ := .Values.policies.pluginScopes }}
{{- if not (has $namespace $.Values.policies.pluginNamespaces) }}
{{- fail (printf "policies.pluginScopes: %s is not among policies.pluginNamespaces" $namespace) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Name of the metrics port, in the pod and in the Service: its first part is the protocol. */}}
{{- define "spokeshave.metricsPort" -}}
{{ ternary "https-metrics" "http-metrics" .Values.controller.metrics.secure }}
{{- end }}

{{/* Name of the port of the page. */}}
{{- define "spokeshave.webPort" -}}
https-web
{{- end }}

{{/* Volumes with certificates: path of the mount to the Secret, empty for none. */}}
{{- define "spokeshave.certificates" -}}
{{- $all := dict }}
{{- if .Values.webhook.enabled }}
{{- $_ := set $all "webhook" (printf "%s-webhook" (include "spokeshave.fullname" .)) }}
{{- end }}
{{- if and .Values.controller.metrics.secure .Values.controller.metrics.certSecret }}
{{- $_ := set $all "metrics" .Values.controller.metrics.certSecret }}
{{- end }}
{{- if and .Values.web.enabled .Values.web.service .Values.web.certSecret }}
{{- $_ := set $all "web" .Values.web.certSecret }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/* Name of the ConfigMap with discounts on list prices: the chart's or the user's, empty for none. */}}
{{- define "spokeshave.discounts" -}}
{{- $d := .Values.settings.priceDiscounts }}
{{- if and $d.discounts $d.configMap }}
{{- fail "settings.priceDiscounts has discounts and names a configMap that has them: say one of the two" }}
{{- end }}
{{- if $d.discounts }}{{ include "spokeshave.fullname" . }}-price-discounts{{ else }}{{ $d.configMap }}{{ end }}
{{- end }}

{{/* Whether controller.image is Karpenter's, from a values file of its chart: not empty then. */}}
{{- define "spokeshave.foreignImage" -}}
{{- if hasSuffix "karpenter/controller" (default "" .Values.controller.image.repository) }}yes{{ end }}
{{- end }}

{{/*
The image. A release writes its own into the annotations of its chart ("make release"); there
is no other default, because a name without a registry, or in somebody else's, is theirs to fill.
*/}}
{{- define "spokeshave.image" -}}
{{- $image := .Values.controller.image }}
{{- if include "spokeshave.foreignImage" . }}
{{- $image = dict }}
{{- end }}
{{- $released := index .Chart.Annotations "spokeshave.dev/image-repository" }}
{{- $repository := default $released $image.repository }}
{{- if not $repository }}
{{- fail "controller.image.repository is not set, and this chart is no release's, so that it has no image of its own: say --set controller.image.repository=REGISTRY/controller with the registry that \"make release-push REGISTRY=...\" was given, or install the chart of a release" }}
{{- end }}
{{- $digest := $image.digest }}
{{- if and (not $digest) (not $image.tag) (eq $repository $released) }}
{{- $digest = index .Chart.Annotations "spokeshave.dev/image-digest" }}
{{- end }}
{{- $repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- with $digest }}@{{ . }}{{ end }}
{{- end }}

{{/* Name of the lease that the controller's replicas elect their leader with. */}}
{{- define "spokeshave.leaseName" -}}
spokeshave-leader-election
{{- end }}

{{/* A setting as text. As in Karpenter's chart it may be a template. */}}
{{- define "spokeshave.setting" -}}
{{- tpl (toString .value) .root }}
{{- end }}

{{/* The container's security context without empty parts, such as Karpenter's values have. */}}
{{- define "spokeshave.securityContext" -}}
{{- $out := dict }}
{{- range $name, $part := .Values.controller.securityContext }}
{{- if not (and (kindIs "map" $part) (empty $part)) }}
{{- $_ := set $out $name $part }}
{{- end }}
{{- end }}
{{- toYaml $out }}
{{- end }}

{{/* The affinity. As in Karpenter's chart, terms about pods without a selector are about the chart's. */}}
{{- define "spokeshave.affinity" -}}
{{- $all := deepCopy .Values.affinity }}
{{- $selector := dict "matchLabels" (include "spokeshave.selectorLabels" . | fromYaml) }}
{{- range $kind := list "podAffinity" "podAntiAffinity" }}
{{- $rules := get $all $kind | default dict }}
{{- range $term := get $rules "requiredDuringSchedulingIgnoredDuringExecution" | default list }}
{{- if not (hasKey $term "labelSelector") }}{{ $_ := set $term "labelSelector" $selector }}{{ end }}
{{- end }}
{{- range $weighted := get $rules "preferredDuringSchedulingIgnoredDuringExecution" | default list }}
{{- $term := $weighted.podAffinityTerm }}
{{- if not (hasKey $term "labelSelector") }}{{ $_ := set $term "labelSelector" $selector }}{{ end }}
{{- end }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/* AWS gates that are switched on, by Karpenter's names. */}}
{{- define "spokeshave.awsFeatureGates" -}}
{{- $on := list }}
{{- range $name, $value := .Values.settings.awsFeatureGates | default dict }}
{{- if $value }}{{ $on = append $on (printf "%s=true" (title $name)) }}{{ end }}
{{- end }}
{{- join "," $on }}
{{- end }}

{{/*
Command line of the controller. Flags that are not set are left to their
defaults in the binary.
*/}}
{{- define "spokeshave.args" -}}
{{- $s := .Values.settings -}}
{{- include "spokeshave.namespaces" . }}
{{- include "spokeshave.names" . }}
{{- $settings := dict }}
{{- range $name, $value := $s }}
{{- if not (kindIs "map" $value) }}
{{- $_ := set $settings $name (include "spokeshave.setting" (dict "value" $value "root" $)) }}
{{- end }}
{{- end }}
- --cluster-name={{ required "settings.clusterName is required: the cluster's name, as it stands in the tags of its AWS resources" $settings.clusterName }}
{{- with $settings.clusterEndpoint }}
- --cluster-endpoint={{ . }}
{{- end }}
{{- with $settings.clusterCABundle }}
- --cluster-ca-bundle={{ . }}
{{- end }}
- --mode={{ .Values.controller.mode }}
- --namespace={{ .Release.Namespace }}
- --leader-election-name={{ include "spokeshave.leaseName" . }}
- --karpenter-lease-namespace={{ $s.karpenterLease.namespace }}
- --karpenter-lease-name={{ $s.karpenterLease.name }}
- --batch-idle-duration={{ $settings.batchIdleDuration }}
- --batch-max-duration={{ $settings.batchMaxDuration }}
- --batch-rollout-duration={{ $settings.batchRolloutDuration }}
{{- if not $s.announcedPods }}
- --announced-pods=false
{{- end }}
- --preference-policy={{ $s.preferencePolicy }}
- --min-values-policy={{ $s.minValuesPolicy }}
- --move-cost={{ $s.moveCost }}
- --feature-gates=NodeRepair={{ $s.featureGates.nodeRepair }},ReservedCapacity={{ $s.featureGates.reservedCapacity }},SpotToSpotConsolidation={{ $s.featureGates.spotToSpotConsolidation }},StaticCapacity={{ $s.featureGates.staticCapacity }}
  {{- if $s.featureGates.nodeOverlay }},NodeOverlay=true{{ end }}
  {{- if $s.featureGates.capacityBuffer }},CapacityBuffer=true{{ end }}
{{- with .Values.policies.required }}
- --policies-required={{ join "," . }}
{{- end }}
{{- with .Values.policies.pluginNamespaces }}
- --policy-plugin-namespaces={{ join "," . }}
{{- end }}
{{- with .Values.policies.pluginScopes }}
- --policy-plugin-scopes={{ toJson . }}
{{- end }}
{{- if .Values.policies.allowKubeSystem }}
- --allow-kube-system
{{- end }}
{{- if ne .Values.policies.regoEvaluator "compiled" }}
- --rego-evaluator={{ .Values.policies.regoEvaluator }}
{{- end }}
- --rego-memory={{ .Values.policies.regoMemory }}
- --wasm-memory={{ .Values.policies.wasmMemory }}
{{- if .Values.policies.cache.enabled }}
- --policy-cache-dir=/var/cache/spokeshave/policies
{{- end }}
{{- with $settings.interruptionQueue }}
- --interruption-queue={{ . }}
{{- end }}
{{- if $s.drainOnRebalance }}
- --drain-on-rebalance
{{- end }}
{{- if eq $settings.disableClusterStateObservability "true" }}
- --disable-cluster-state-observability
{{- end }}
{{- if eq $settings.isolatedVPC "true" }}
- --isolated-vpc
{{- end }}
{{- if eq $settings.disableDryRun "true" }}
- --disable-dry-run
{{- end }}
{{- if eq $settings.enableZonalShift "true" }}
- --enable-zonal-shift
{{- end }}
- --reserved-enis={{ $settings.reservedENIs }}
{{- if $s.enablePrefixDelegation }}
- --enable-prefix-delegation
{{- end }}
- --vm-memory-overhead-percent={{ $settings.vmMemoryOverheadPercent }}
- --breaker-percent={{ $s.breakerPercent }}
{{- if eq .Values.controller.mode "Act" }}
{{- $digests := list }}
{{- range $name := splitList "," (include "spokeshave.admissionPolicies" .) }}
{{- $spec := include (printf "spokeshave.admission.%s" (splitList "-" $name | last)) $ | fromYaml }}
{{- $digests = append $digests (printf "%s=%s" $name ($spec | toJson | sha256sum)) }}
{{- end }}
- --admission-policies={{ join "," $digests }}
{{- end }}
{{- with .Values.additionalLabels }}
{{- $labels := list }}
{{- range $name, $value := . }}{{ $labels = append $labels (printf "%s=%s" $name $value) }}{{ end }}
- --record-labels={{ join "," $labels }}
{{- end }}
{{- if include "spokeshave.discounts" . }}
- --price-discounts=/etc/spokeshave/price-discounts/discounts.yaml
{{- end }}
- --interval={{ $settings.interval }}
- --workers={{ $s.workers }}
{{- with $s.awsRegion }}
- --aws-region={{ . }}
{{- end }}
{{- with $s.awsEndpoint }}
- --aws-endpoint={{ . }}
{{- end }}
- --journal-memory={{ .Values.controller.journalMemory }}
{{- with .Values.controller.decisionLog.path }}
- --decision-log={{ . }}
{{- end }}
{{- if .Values.controller.decisionLog.inputs }}
- --decision-log-inputs
{{- end }}
{{- if .Values.webhook.enabled }}
- --webhook-port={{ .Values.webhook.port }}
- --webhook-cert-dir=/etc/spokeshave/webhook
{{- if .Values.webhook.clientCA }}
- --webhook-client-ca=/etc/spokeshave/webhook/client-ca.crt
{{- with .Values.webhook.clientName }}
- --webhook-client-name={{ . }}
{{- end }}
{{- end }}
{{- end }}
- --kube-client-qps={{ $s.kubeClientQPS }}
- --kube-client-burst={{ $s.kubeClientBurst }}
- --metrics-port={{ .Values.controller.metrics.port }}
{{- if not .Values.controller.metrics.secure }}
- --metrics-secure=false
{{- end }}
{{- if .Values.controller.metrics.certSecret }}
- --metrics-cert-dir=/etc/spokeshave/metrics
{{- end }}
- --local-port={{ .Values.controller.local.port }}
{{- if .Values.controller.local.profiling }}
- --enable-profiling
{{- end }}
{{- if .Values.web.enabled }}
{{- if .Values.web.certSecret }}
- --web-cert-dir=/etc/spokeshave/web
{{- end }}
- --web-address={{ ternary "" "127.0.0.1" .Values.web.service }}:{{ .Values.web.port }}
{{- end }}
- --health-probe-port={{ .Values.controller.healthProbe.port }}
{{- with .Values.logLevel }}
- --log-level={{ . }}
{{- end }}
{{- range $name, $flag := dict "amiRefreshInterval" "ami-refresh-interval" "subnetRefreshInterval" "subnet-refresh-interval" "eksControlPlane" "eks-control-plane" "ignoreDRARequests" "ignore-dra-requests" }}
{{- with get $settings $name }}
- --{{ $flag }}={{ . }}
{{- end }}
{{- end }}
{{- with .Values.logOutputPaths }}
- --log-output-paths={{ join "," . }}
{{- end }}
{{- with .Values.logErrorOutputPaths }}
- --log-error-output-paths={{ join "," . }}
{{- end }}
{{- end }}

{{- /* The ValidatingAdmissionPolicies, which the controller looks at. */}}
{{- define "spokeshave.admissionPolicies" -}}
{{- $prefix := printf "%s-%s" (include "spokeshave.fullname" .) .Release.Namespace -}}
{{ $prefix }}-configmaps,{{ $prefix }}-nodeclaims,{{ $prefix }}-nodepools,{{ $prefix }}-pods
{{- end }}
