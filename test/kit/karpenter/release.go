package karpenter

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"spokeshave.dev/test/kit/harness"
)

// chartFile names the chart that stands for Karpenter's.
const chartFile = `apiVersion: v2
name: karpenter
version: 1.14.1
appVersion: 1.14.1
description: Stands for Karpenter. Its pods do nothing.
`

// deployment is all of that chart but the custom resource definitions.
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: {{ .Release.Namespace }}, labels: {app.kubernetes.io/name: karpenter, app.kubernetes.io/version: {{ .Chart.AppVersion }}}}
spec:
  replicas: 2
  selector: {matchLabels: {app.kubernetes.io/name: karpenter}}
  template:
    metadata: {labels: {app.kubernetes.io/name: karpenter}}
    spec:
      nodeSelector: {kubernetes.io/hostname: system-1}
      tolerations: [{operator: Exists}]
      containers: [{name: controller, image: karpenter, env: [{name: CLUSTER_NAME, value: {{ .Values.settings.clusterName }}}]}]
`

// values are the settings of the release, by Karpenter's names: those that an operator
// takes along. The endpoints are those of the local programs.
const values = `settings:
  clusterName: %s
  clusterEndpoint: %s
  interruptionQueue: %s
  featureGates: {staticCapacity: true, nodeRepair: true}
controller:
  env:
  - {name: AWS_REGION, value: %s}
  - {name: AWS_ENDPOINT_URL, value: %q}
  resources: {requests: {cpu: 500m, memory: 512Mi}}
logLevel: debug
`

// Install installs the Helm release karpenter in kube-system: the custom resource
// definitions, a Deployment of two pods that do nothing, and the settings. It returns when
// the pods run.
func Install(ctx context.Context, s *harness.Stack) error {
	chart, err := writeChart(s)
	if err != nil {
		return fmt.Errorf("write the chart of Karpenter's stand-in: %w", err)
	}
	_, err = s.Helm(ctx, "install", "karpenter", chart, "--namespace", "kube-system", "--values", filepath.Join(chart, "settings.yaml"))
	if err != nil {
		return err
	}
	return Runs(ctx, s, 2)
}

// Runs waits until exactly so many pods of the release run.
func Runs(ctx context.Context, s *harness.Stack, pods int) error {
	running := s.Running("kube-system", map[string]string{"app.kubernetes.io/name": "karpenter"}, pods)
	return s.Until(ctx, fmt.Sprintf("%d pods of Karpenter", pods), time.Minute, running)
}

// writeChart writes the chart into the cluster's folder and returns its path.
func writeChart(s *harness.Stack) (string, error) {
	dir := filepath.Join(s.Cluster.Dir, "karpenter")
	for _, folder := range []string{"templates", "crds"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			return "", err
		}
	}
	files := map[string]string{
		"Chart.yaml":                chartFile,
		"templates/deployment.yaml": deployment,
		"settings.yaml":             fmt.Sprintf(values, ClusterName, s.Cluster.ServerURL, ClusterName, harness.Region, s.EC2URL()),
	}
	for _, name := range []string{"karpenter.sh_nodepools.yaml", "karpenter.sh_nodeclaims.yaml", "karpenter.k8s.aws_ec2nodeclasses.yaml"} {
		text, err := s.Source("charts/spokeshave/files/crds/" + name)
		if err != nil {
			return "", err
		}
		files["crds/"+name] = string(text)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}
