package accountcheck

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"spokeshave.dev/controller/cloud/aws/client"
)

// Config says which account and cluster are checked.
type Config struct {
	At client.Location
	// Cluster is the name of the EKS cluster.
	Cluster string
	// Discovery is the value of the tag karpenter.sh/discovery on subnets and security
	// groups; the cluster's name when empty.
	Discovery string
	// Queue is the name of the interruption queue, which is not checked when empty.
	Queue string
	// KubernetesVersion, such as "1.34", is the cluster's when empty.
	KubernetesVersion string
	// Spend includes the checks that launch instances, for less than 0.01 $.
	Spend bool
	// Progress, when set, is told of each check before it is run.
	Progress func(number int, c Check)
}

// Outcome is how a check ended.
type Outcome string

const (
	// OK is a check whose answer is as expected.
	OK Outcome = "ok"
	// Failed is a check whose answer is not.
	Failed Outcome = "failed"
	// Skipped is a check that was not run.
	Skipped Outcome = "skipped"
)

// Result is the outcome of one check.
type Result struct {
	Check   string  `json:"check"`
	Outcome Outcome `json:"outcome"`
	// Found says what AWS answered, why the check failed, or why it was not run.
	Found   string  `json:"found"`
	Seconds float64 `json:"seconds"`
}

// account is the AWS account under test, and what the checks have found in it so far.
type account struct {
	aws                                client.Services
	region, cluster, discovery, queue  string
	version                            string // of Kubernetes
	subnets, groups, images, instances []string
	template                           string // ID of the launch template that was made
}

// Run makes the checks and returns a result for each. When ctx ends, the checks that
// are left fail, and what was launched is ended all the same. The error says that no
// check could be made.
func Run(ctx context.Context, c Config) ([]Result, error) {
	cfg, err := client.Load(ctx, c.At)
	if err != nil {
		return nil, err
	}
	a := &account{
		aws: client.New(cfg), region: cfg.Region, cluster: c.Cluster, discovery: c.Discovery, queue: c.Queue, version: c.KubernetesVersion,
	}
	if a.discovery == "" {
		a.discovery = c.Cluster
	}
	out := make([]Result, 0, len(Checks()))
	for i, each := range Checks() {
		if c.Progress != nil {
			c.Progress(i+1, each)
		}
		if each.Spends && !c.Spend {
			out = append(out, Result{Check: each.Name, Outcome: Skipped, Found: "needs --spend"})
			continue
		}
		out = append(out, each.result(ctx, a))
	}
	return out, nil
}

// result runs the check, or says what it lacks.
func (c Check) result(ctx context.Context, a *account) Result {
	out := Result{Check: c.Name}
	if lacks := c.lacks(a); lacks != "" {
		out.Outcome, out.Found = Skipped, "needs "+lacks
		return out
	}
	start := clock.RealClock{}.Now()
	found, err := c.run(ctx, a)
	out.Seconds = clock.RealClock{}.Since(start).Round(time.Millisecond).Seconds()
	out.Outcome, out.Found = OK, found
	if err != nil {
		out.Outcome, out.Found = Failed, err.Error()
	}
	return out
}
