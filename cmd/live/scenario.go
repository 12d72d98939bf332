package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/burst"
)

// scenario is a burst.
type scenario struct {
	name, what string
	// before brings the cluster to where the burst begins; nil for an empty one. What it
	// makes runs before the measurement begins.
	before func(context.Context, *cluster) error
	// act makes the burst and returns when everything has been asked for.
	act func(context.Context, *cluster) error
}

func scenarios() []scenario {
	return []scenario{
		{name: "web", what: "40 Deployments of services, every third spread over zones", act: deploy("web")},
		{name: "diverse", what: "Deployments of one or two pods with five kinds of constraints", act: deploy("diverse")},
		{name: "rolling", what: "a rolling update of the Deployments of web", before: deploy("web"), act: roll},
		{name: "cron", what: "half as many short Jobs a minute as there are pods, for two minutes", act: jobs},
		{name: "autoscaler", what: "the Deployments of web grow from a tenth in nine steps, 15 s apart", before: deployTenth, act: grow},
		{name: "drain", what: "a third of the nodes of web are deleted at once", before: deploy("web"), act: drain},
	}
}

// choose returns the scenarios of the names.
func choose(names []string) ([]scenario, error) {
	all := scenarios()
	var out []scenario
	for _, name := range names {
		at := slices.IndexFunc(all, func(s scenario) bool { return s.name == name })
		if at < 0 {
			return nil, fmt.Errorf("--scenario %s: there is none of the name; see --help", name)
		}
		out = append(out, all[at])
	}
	return out, nil
}

// deploy creates the Deployments of a mix.
func deploy(kind string) func(context.Context, *cluster) error {
	return func(ctx context.Context, c *cluster) error {
		all, err := burst.Deployments(kind, c.pods, c.seed)
		if err != nil {
			return err
		}
		return createAll(ctx, c, all)
	}
}

// deployTenth creates the Deployments of web with a tenth of their replicas, at least one.
func deployTenth(ctx context.Context, c *cluster) error {
	all, err := burst.Deployments("web", c.pods, c.seed)
	if err != nil {
		return err
	}
	for _, d := range all {
		d.Annotations = map[string]string{annotationWhole: strconv.Itoa(int(*d.Spec.Replicas))}
		*d.Spec.Replicas = max(1, *d.Spec.Replicas/10)
	}
	return createAll(ctx, c, all)
}

// annotationWhole keeps how many replicas a Deployment grows to.
const annotationWhole = "live.spokeshave.dev/replicas"

func createAll(ctx context.Context, c *cluster, all []*appsv1.Deployment) error {
	for _, d := range all {
		if c.stop > 0 {
			sleep := &corev1.SleepAction{Seconds: int64(c.stop.Seconds())}
			d.Spec.Template.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: sleep}}
		}
		if err := c.stack.Client.Create(ctx, d); err != nil {
			return fmt.Errorf("create Deployment %s: %w", d.Name, err)
		}
	}
	return nil
}

// change changes every Deployment.
func change(ctx context.Context, c *cluster, how func(*appsv1.Deployment)) error {
	list := &appsv1.DeploymentList{}
	if err := c.stack.Client.List(ctx, list, client.InNamespace(burst.Namespace)); err != nil {
		return fmt.Errorf("list Deployments: %w", err)
	}
	for i := range list.Items {
		d := &list.Items[i]
		base := d.DeepCopy()
		how(d)
		if err := c.stack.Client.Patch(ctx, d, client.MergeFrom(base)); err != nil {
			return fmt.Errorf("change Deployment %s: %w", d.Name, err)
		}
	}
	return nil
}

// roll changes the template of every Deployment.
func roll(ctx context.Context, c *cluster) error {
	return change(ctx, c, func(d *appsv1.Deployment) {
		d.Spec.Template.Annotations = map[string]string{"live.spokeshave.dev/revision": "2"}
	})
}

// grow raises the replicas in steps, as a HorizontalPodAutoscaler does every 15 s.
func grow(ctx context.Context, c *cluster) error {
	for step := int32(2); step <= 10; step++ {
		err := change(ctx, c, func(d *appsv1.Deployment) {
			whole, _ := strconv.ParseInt(d.Annotations[annotationWhole], 10, 32)
			*d.Spec.Replicas = max(*d.Spec.Replicas, int32(whole)*step/10)
		})
		if err != nil {
			return err
		}
		if step == 10 {
			break
		}
		if err := pause(ctx, 15*time.Second); err != nil {
			return err
		}
	}
	return nil
}

// drain deletes a third of the NodeClaims.
func drain(ctx context.Context, c *cluster) error {
	fleet, err := c.stack.Fleet(ctx)
	if err != nil {
		return err
	}
	for i := 0; i < len(fleet); i += 3 {
		if _, err := c.stack.Kubectl(ctx, "delete", "nodeclaim", fleet[i].Claim, "--wait=false"); err != nil {
			return err
		}
	}
	return nil
}

// jobs creates Jobs for two minutes. Each has one pod, which runs for ten seconds.
func jobs(ctx context.Context, c *cluster) error {
	perMinute := max(1, c.pods/2)
	for minute := range 2 {
		if minute > 0 {
			if err := pause(ctx, time.Minute); err != nil {
				return err
			}
		}
		for i := range perMinute {
			one := int32(1)
			spec := burst.PodSpec(int64(1+i%10)*100, 256<<20)
			spec.RestartPolicy = corev1.RestartPolicyNever
			job := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Namespace: burst.Namespace, Name: fmt.Sprintf("cron-%d-%04d", minute, i)},
				Spec: batchv1.JobSpec{
					Completions: &one,
					Template:    corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"spokeshave.dev/run-for": "10s"}}, Spec: spec},
				},
			}
			if err := c.stack.Client.Create(ctx, job); err != nil {
				return fmt.Errorf("create Job %s: %w", job.Name, err)
			}
		}
	}
	return nil
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-clock.RealClock{}.After(d):
		return nil
	}
}
