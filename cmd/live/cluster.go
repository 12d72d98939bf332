package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/burst"
	"spokeshave.dev/test/kit/harness"
)

// cluster is the running product with what is observed of it.
type cluster struct {
	stack *harness.Stack
	seen  *timeline
	// pool is the manifest of the NodePool with its class and namespace.
	pool string
	pods int
	seed uint64
	// stop is how long a pod of a Deployment takes to stop.
	stop time.Duration
}

// runningWithin bounds how long a burst may take.
const runningWithin = 20 * time.Minute

// measure runs one scenario on a cluster of its own.
func measure(ctx context.Context, log io.Writer, s scenario, side controller, o *options) (_ *figures, err error) {
	stack, err := harness.Start(ctx, harness.Options{Log: log, BootDelay: o.boot / 2, Dir: o.dir, WorkloadQPS: o.workloadQPS, Values: o.values, Controller: side.path, Chart: side.chart})
	if err != nil {
		return nil, err
	}
	defer func() {
		if stopped := stack.Stop(); err == nil {
			err = stopped
		}
	}()
	nodePool := pool(o)
	if err := stack.Apply(ctx, []byte(nodePool)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &cluster{stack: stack, pool: nodePool, pods: o.pods, seed: o.seed, stop: o.stop}
	if c.seen, err = follow(ctx, stack.Cluster.Config()); err != nil {
		return nil, err
	}
	return c.measure(ctx, s, side.name, o)
}

// measure makes the burst and returns what was observed.
func (c *cluster) measure(ctx context.Context, s scenario, name string, o *options) (*figures, error) {
	if s.before != nil {
		if err := s.before(ctx, c); err != nil {
			return nil, err
		}
		if err := c.untilRunning(ctx); err != nil {
			return nil, err
		}
		if _, err := c.untilSettled(ctx, o); err != nil {
			return nil, err
		}
	}
	before, err := c.counters(ctx)
	if err != nil {
		return nil, err
	}
	start := clock.RealClock{}.Now()
	if err := s.act(ctx, c); err != nil {
		return nil, err
	}
	if err := c.untilRunning(ctx); err != nil {
		return nil, err
	}
	f := &figures{Scenario: s.name, Controller: name, Seed: o.seed, Boot: o.boot.Seconds()}
	pods, ready := c.seen.since(start)
	f.times(start, pods, ready)
	if f.Running, err = c.fleet(ctx); err != nil {
		return nil, err
	}
	if f.Plan, err = c.onePlan(ctx); err != nil {
		return nil, err
	}
	running := clock.RealClock{}.Now()
	if o.settle > 0 {
		if f.IsSettled, err = c.untilSettled(ctx, o); err != nil {
			return nil, err
		}
		f.SettledAfter = clock.RealClock{}.Since(running).Seconds()
		if f.Settled, err = c.fleet(ctx); err != nil {
			return nil, err
		}
		f.Evictions = c.seen.evictions(running)
	}
	after, err := c.counters(ctx)
	if err != nil {
		return nil, err
	}
	f.Used = after.less(before)
	return f, nil
}

// untilRunning waits until every workload has the pods that it asked for, and all of them
// run. The pods say so: on a busy machine, a ReplicaSet's status may lag behind for good.
func (c *cluster) untilRunning(ctx context.Context) error {
	return c.stack.Until(ctx, "all pods to run", runningWithin, func(ctx context.Context) (string, bool) {
		if waiting := c.seen.waiting(); waiting > 0 {
			// The watch knows. Lists of all workloads, four times a second, were a tenth
			// of what the API server did.
			return fmt.Sprintf("%d pods wait", waiting), false
		}
		deployments, jobs := &appsv1.DeploymentList{}, &batchv1.JobList{}
		if err := c.stack.Client.List(ctx, deployments, client.InNamespace(burst.Namespace)); err != nil {
			return err.Error(), false
		}
		if err := c.stack.Client.List(ctx, jobs, client.InNamespace(burst.Namespace)); err != nil {
			return err.Error(), false
		}
		open := 0
		for i := range deployments.Items {
			d := &deployments.Items[i]
			st := &d.Status
			if st.ObservedGeneration < d.Generation || st.UpdatedReplicas < *d.Spec.Replicas || st.Replicas > *d.Spec.Replicas {
				open++
			}
		}
		for i := range jobs.Items {
			if jobs.Items[i].Status.Succeeded == 0 {
				open++
			}
		}
		waiting := c.seen.waiting()
		return fmt.Sprintf("%d workloads are not complete, %d pods wait", open, waiting), open == 0 && waiting == 0
	})
}

// untilSettled waits until the fleet has not changed for longer than consolidateAfter. It
// returns false when that did not happen in time, which is a result and no error.
func (c *cluster) untilSettled(ctx context.Context, o *options) (bool, error) {
	last, since := "", clock.RealClock{}.Now()
	err := c.stack.Until(ctx, "the fleet to settle", max(o.settle, time.Minute), func(ctx context.Context) (string, bool) {
		fleet, err := c.stack.Fleet(ctx)
		if err != nil {
			return err.Error(), false
		}
		var names strings.Builder
		whole := true
		for i := range fleet {
			names.WriteString(fleet[i].Claim + " ")
			whole = whole && fleet[i].Initialized && !fleet[i].Deleting
		}
		now := clock.RealClock{}.Now()
		if names.String() != last || !whole {
			last, since = names.String(), now
		}
		return fmt.Sprintf("%d nodes, unchanged for %s", len(fleet), now.Sub(since).Round(time.Second)), now.Sub(since) > o.consolidateAfter+20*time.Second
	})
	if ctx.Err() != nil {
		return false, err
	}
	return err == nil, nil
}

// pool is the manifest of the namespace, of the EC2NodeClass and of the only NodePool,
// which allows every amd64 type of the categories c, m and r.
func pool(o *options) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Namespace
metadata: {name: %s}
---
%sapiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [%s]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: %s, budgets: [{nodes: "100%%"}]}
`, burst.Namespace, harness.DefaultClass, strings.Join(o.capacity, ", "), o.consolidateAfter)
}
