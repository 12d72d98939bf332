package joiner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"spokeshave.dev/controller/cloud/catalog"
)

// parallel bounds concurrent calls to EC2 and to the API server.
const parallel = 8

// resync is how often Nodes are looked through for instances that EC2 has
// forgotten.
const resync = 30 * time.Second

// joiner is the state of a run. Only the loop touches the maps.
type joiner struct {
	Config
	kube  kubernetes.Interface
	types map[string]*catalog.Type
	// machines are the instances described, by ID.
	machines map[string]*machine
	swept    time.Time
	lastErr  string
}

// machine is what the joiner remembers of an instance.
type machine struct {
	types.Instance
	// runningAt is when it was first seen running, goneAt when first seen to
	// end; zero until then.
	runningAt, goneAt time.Time
	// boot is what the user data says, once it is read; volume the size of the
	// root volume in bytes.
	boot   *boot
	volume int64
	// joined: the Node was created, and is not created again. failed: it
	// never will be. removed: the Node is deleted after the instance's end.
	joined, failed, removed bool
}

// Run plays the instances until the context ends, which is no error. Failures
// of EC2 or the API server are logged and tried again.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.setDefaults(); err != nil {
		return err
	}
	// A fleet joins at once; the client's own brake is for single controllers.
	access := rest.CopyConfig(cfg.Kubernetes)
	access.QPS, access.Burst = 500, 500
	kube, err := kubernetes.NewForConfig(access)
	if err != nil {
		return fmt.Errorf("connect to the API server: %w", err)
	}
	j := &joiner{Config: cfg, kube: kube, types: make(map[string]*catalog.Type), machines: make(map[string]*machine)}
	for i := range cfg.Types {
		j.types[cfg.Types[i].Name] = &cfg.Types[i]
	}
	for {
		j.report(j.round(ctx))
		select {
		case <-ctx.Done():
			return nil
		case <-j.Clock.After(j.Poll):
		}
	}
}

// report logs a failure when it is not the one of the last round.
func (j *joiner) report(err error) {
	if err == nil {
		j.lastErr = ""
		return
	}
	if text := err.Error(); text != j.lastErr {
		j.lastErr = text
		j.Log.Warn("try again", "error", text)
	}
}

// round looks at all instances once and does what is due.
func (j *joiner) round(ctx context.Context) error {
	if err := j.observe(ctx); err != nil {
		return err
	}
	now := j.Clock.Now()
	var work errgroup.Group // one machine's failure is not another's
	work.SetLimit(parallel)
	due := !now.Before(j.swept.Add(resync))
	for _, m := range j.machines {
		switch {
		case m.goneAt.IsZero() && !m.joined && !m.failed && !m.runningAt.IsZero() && !now.Before(m.runningAt.Add(j.BootDelay)):
			work.Go(func() error { return j.join(ctx, m) })
		case m.goneAt.IsZero() || m.removed || now.Before(m.goneAt.Add(j.RemoveDelay)):
		case aws.ToString(m.PrivateDnsName) == "":
			// It had ended, and lost its name, before anybody looked: its Node is
			// found by the provider ID.
			due, m.removed = true, true
		default:
			work.Go(func() error { return j.remove(ctx, m) })
		}
	}
	err := work.Wait()
	if !due {
		return err
	}
	// Also after a failure: a Node in the way of another may need the sweep.
	if swept := j.sweep(ctx); swept != nil {
		return errors.Join(err, swept)
	}
	j.swept = now
	return err
}

// observe describes the cluster's instances in every state.
func (j *joiner) observe(ctx context.Context) error {
	pages := ec2.NewDescribeInstancesPaginator(j.EC2, &ec2.DescribeInstancesInput{
		MaxResults: aws.Int32(1000),
		Filters:    []types.Filter{{Name: aws.String("tag-key"), Values: []string{"kubernetes.io/cluster/" + j.Cluster}}},
	})
	seen := make(map[string]bool)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("describe instances of cluster %s: %w", j.Cluster, err)
		}
		for r := range page.Reservations {
			for i := range page.Reservations[r].Instances {
				j.note(&page.Reservations[r].Instances[i])
				seen[aws.ToString(page.Reservations[r].Instances[i].InstanceId)] = true
			}
		}
	}
	for id, m := range j.machines {
		if seen[id] {
			continue
		}
		// EC2 has forgotten it, or shows it no more for a moment; sweep knows.
		if m.removed || !m.joined {
			delete(j.machines, id)
		} else if m.goneAt.IsZero() {
			m.goneAt = j.Clock.Now()
		}
	}
	return nil
}

func (j *joiner) note(i *types.Instance) {
	id := aws.ToString(i.InstanceId)
	m := j.machines[id]
	if m == nil {
		m = &machine{}
		j.machines[id] = m
	}
	if i.PrivateDnsName == nil || *i.PrivateDnsName == "" {
		i.PrivateDnsName = m.PrivateDnsName // EC2 drops it at the end
	}
	m.Instance = *i
	if i.State == nil {
		return
	}
	switch i.State.Name {
	case types.InstanceStateNameRunning:
		if m.runningAt.IsZero() {
			m.runningAt = j.Clock.Now()
		}
		m.goneAt = time.Time{}
	case types.InstanceStateNameTerminated, types.InstanceStateNameStopped:
		if m.goneAt.IsZero() {
			m.goneAt = j.Clock.Now()
		}
	case types.InstanceStateNamePending:
	case types.InstanceStateNameShuttingDown, types.InstanceStateNameStopping:
		m.runningAt = time.Time{} // what has not booted yet never will
	}
}
