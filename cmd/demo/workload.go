package main

import (
	"context"
	_ "embed"
	"fmt"
)

// namespace is the namespace of the demo's workloads.
const namespace = "demo"

//go:embed manifests/pools.yaml
var pools []byte

// deployment is one workload: its number of pods, their requests, and the team whose
// nodes they use.
type deployment struct {
	name        string
	replicas    int
	cpu, memory string
	team        string
	// capacity is the required capacity type, "" for any.
	capacity string
}

// shop is a set of fifty pods of four sizes.
func shop() []deployment {
	return []deployment{
		{name: "web", replicas: 20, cpu: "250m", memory: "512Mi", team: "shop"},
		{name: "api", replicas: 15, cpu: "500m", memory: "1Gi", team: "shop"},
		{name: "worker", replicas: 10, cpu: "1", memory: "2Gi", team: "shop"},
		{name: "cache", replicas: 5, cpu: "500m", memory: "6Gi", team: "shop"},
	}
}

// batch is the workload that grows.
func batch(replicas int) deployment {
	return deployment{name: "batch", replicas: replicas, cpu: "1", memory: "2Gi", team: "shop"}
}

// report is the workload that exceeds the budget. It does not run on spot capacity.
func report(replicas int) deployment {
	return deployment{name: "report", replicas: replicas, cpu: "1", memory: "2Gi", team: "shop", capacity: "on-demand"}
}

// training is the workload of the team whose nodes are protected.
func training(replicas int) deployment {
	return deployment{name: "training", replicas: replicas, cpu: "1500m", memory: "3Gi", team: "research"}
}

func (d *deployment) manifest() []byte {
	selector := "team: " + d.team
	if d.capacity != "" {
		selector += ", karpenter.sh/capacity-type: " + d.capacity
	}
	return fmt.Appendf(nil, `apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {%[6]s}
      containers:
      - name: main
        image: example.com/%[1]s:1
        resources: {requests: {cpu: %[4]s, memory: %[5]s}}
`, d.name, namespace, d.replicas, d.cpu, d.memory, selector)
}

// deploy applies workloads. Applying one again changes its number of replicas.
func (d *demo) deploy(ctx context.Context, all ...deployment) error {
	for i := range all {
		if err := d.Apply(ctx, all[i].manifest()); err != nil {
			return err
		}
	}
	return nil
}

func app(name string) map[string]string { return map[string]string{"app": name} }
