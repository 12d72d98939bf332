package attack

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// accountAttacks are made by other roles of the same AWS account.
func accountAttacks() map[string]attack {
	return map[string]attack{
		"account/instance-of-another-cluster": {
			story: "another cluster of the account has an instance with Karpenter's tags and its own name", want: "it is neither counted nor ended", keeps: "instances of others, spend",
			launches: true, run: otherCluster,
		},
		"account/instance-without-claim": {
			story: "somebody starts an instance with the cluster's tags, of which no claim and no node knows", want: "it counts as spend until garbage collection ends it",
			keeps: "spend as EC2 bills it", launches: true, run: withoutClaim,
		},
		"account/impostor": {
			story: "somebody tags an instance of their own with the name of another's claim", want: "it is ended as a duplicate; the claim keeps its instance", keeps: "nodes and headroom of others",
			launches: true, run: impostor,
		},
		"account/untagged": {
			story: "somebody removes the cluster's tags from one of our instances", want: "its node stays and counts", keeps: "pods of others, spend", run: untagged,
		},
		"account/terminates-ours": {
			story: "somebody terminates one of our instances", want: "its pods get another node", keeps: "nodes of others", launches: true, run: terminatesOurs,
		},
		"account/deletes-templates": {
			story: "somebody deletes the launch templates", want: "they are made anew, and pods get nodes", keeps: "launches", launches: true, run: deletesTemplates,
		},
		"account/uses-up-the-rate": {
			story: "somebody uses up the account's rate of calls, so that EC2 throttles every second one", want: "launches take longer, and none is made twice", keeps: "one instance a claim",
			launches: true, run: func(t *testing.T) {
				faulty(t, map[string]any{"action": "CreateFleet", "code": "RequestLimitExceeded", "count": 3})
				serve(t)
			},
		},
		"account/answers-get-lost": {
			story: "the answer to a launch is lost on the way, after EC2 has launched", want: "the instance is found again, and none is launched twice", keeps: "one instance a claim",
			launches: true, run: func(t *testing.T) {
				faulty(t, map[string]any{"action": "CreateFleet", "afterSuccess": true})
				work(t, 1)
				until(t, "one claim for each instance", stack.Consistent)
				work(t, 0)
			},
		},
	}
}

// start starts an instance with tags, past Spokeshave, and ends it when the attack ends.
func start(t *testing.T, tags map[string]string) string {
	t.Helper()
	class := &awsv1.EC2NodeClass{}
	if err := stack.Client.Get(t.Context(), types.NamespacedName{Name: "default"}, class); err != nil {
		t.Fatal(err)
	}
	image := ""
	for _, a := range class.Status.AMIs {
		for _, r := range a.Requirements {
			if slices.Contains(r.Values, "amd64") {
				image = a.ID
			}
		}
	}
	spec := ec2types.TagSpecification{ResourceType: ec2types.ResourceTypeInstance}
	for k, v := range tags {
		spec.Tags = append(spec.Tags, ec2types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	out, err := stack.EC2.RunInstances(t.Context(), &ec2.RunInstancesInput{
		MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: ec2types.InstanceTypeM5Large, ImageId: aws.String(image),
		SubnetId: aws.String(class.Status.Subnets[0].ID), TagSpecifications: []ec2types.TagSpecification{spec},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := aws.ToString(out.Instances[0].InstanceId)
	t.Cleanup(func() { terminate(context.WithoutCancel(t.Context()), t, id) })
	return id
}

func terminate(ctx context.Context, t *testing.T, id string) {
	t.Helper()
	if _, err := stack.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}}); err != nil {
		t.Error(err)
	}
}

// tags are those of an instance of a cluster, for a claim.
func tags(cluster, claim string) map[string]string {
	return map[string]string{
		"eks:eks-cluster-name": cluster, "kubernetes.io/cluster/" + cluster: "owned",
		karpv1.LabelNodePool: "general", "karpenter.sh/nodeclaim": claim, "karpenter.k8s.aws/ec2nodeclass": "default",
	}
}

// gone waits until garbage collection has ended an instance, which it does after half a
// minute.
func gone(t *testing.T, id string) {
	t.Helper()
	until(t, "the instance to be ended", func(ctx context.Context) (string, bool) {
		all, err := stack.Instances(ctx)
		return fmt.Sprint(err), err == nil && !slices.ContainsFunc(all, func(i harness.Instance) bool { return i.ID == id })
	})
}

func otherCluster(t *testing.T) {
	before := number(t, "spokeshave_spend_running_usd", "")
	of := tags("another", "another-1")
	delete(of, karpv1.LabelNodePool) // so that bill leaves it out
	id := start(t, of)
	there := func(ctx context.Context) (float64, bool) {
		all, err := stack.Instances(ctx)
		now, failed := metric(ctx, "spokeshave_spend_running_usd", "")
		return now, err == nil && failed == nil && slices.ContainsFunc(all, func(i harness.Instance) bool { return i.ID == id })
	}
	// Nodes of earlier attacks that have no pods any more may go meanwhile: spend may fall.
	err := stack.Holds(t.Context(), "the instance and no more spend", 45*time.Second, func(ctx context.Context) (string, bool) {
		now, ok := there(ctx)
		return fmt.Sprintf("%.4f, was %.4f; looked and found the instance: %v", now, before, ok), ok && now <= before
	})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "spend to be the bill without the instance", func(ctx context.Context) (string, bool) {
		now, ok := there(ctx)
		billed, err := bill(ctx)
		return fmt.Sprintf("spend %.4f, EC2 bills %.4f; looked and found the instance: %v; %v", now, billed, ok, err), ok && err == nil && tells(now, billed)
	})
}

func withoutClaim(t *testing.T) {
	work(t, 1) // while nothing happens, instances are listed once a minute only
	before := number(t, "spokeshave_spend_running_usd", `nodepool="general"`)
	of := tags(harness.ClusterName, "nobody-1")
	delete(of, "kubernetes.io/cluster/"+harness.ClusterName) // by which machines know which cluster to join
	id := start(t, of)
	until(t, "the instance to count", func(ctx context.Context) (string, bool) {
		now, err := metric(ctx, "spokeshave_spend_running_usd", `nodepool="general"`)
		return fmt.Sprintf("%.4f, was %.4f, %v", now, before, err), now > before+0.09
	})
	gone(t, id)
	work(t, 0)
}

func impostor(t *testing.T) {
	id := start(t, tags(harness.ClusterName, victim(t).Claim))
	until(t, "the instance to count", func(ctx context.Context) (string, bool) {
		told, err := metric(ctx, "spokeshave_spend_running_usd", "")
		billed, failed := bill(ctx)
		return fmt.Sprintf("spend %.4f, EC2 bills %.4f; %v %v", told, billed, err, failed), err == nil && failed == nil && told >= billed
	})
	gone(t, id)
}

func untagged(t *testing.T) {
	machine := victim(t)
	all, err := stack.Instances(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(i harness.Instance) bool { return i.Claim == machine.Claim })
	if at < 0 {
		t.Fatalf("claim %s has no instance", machine.Claim)
	}
	var of []ec2types.Tag
	for k, v := range tags(harness.ClusterName, machine.Claim) {
		// By the others the bill knows it, and its machine which cluster it is in.
		if k != karpv1.LabelNodePool && k != "kubernetes.io/cluster/"+harness.ClusterName {
			of = append(of, ec2types.Tag{Key: aws.String(k), Value: aws.String(v)})
		}
	}
	if _, err := stack.EC2.DeleteTags(t.Context(), &ec2.DeleteTagsInput{Resources: []string{all[at].ID}, Tags: of}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := stack.EC2.CreateTags(context.WithoutCancel(t.Context()), &ec2.CreateTagsInput{Resources: []string{all[at].ID}, Tags: of}); err != nil {
			t.Error(err)
		}
	})
	steadyFor(t, 45*time.Second)
}

func terminatesOurs(t *testing.T) {
	work(t, 1)
	all, err := stack.Instances(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(i harness.Instance) bool { return i.Pool == "general" })
	if at < 0 {
		t.Fatal("NodePool general has no instance")
	}
	terminate(t.Context(), t, all[at].ID)
	gone(t, all[at].ID)
	until(t, "the pod to run elsewhere", func(ctx context.Context) (string, bool) {
		state, runs := stack.Running("default", map[string]string{"app": "work"}, 1)(ctx)
		left, err := general(ctx)
		return fmt.Sprint(state, left, err), runs && err == nil && slices.ContainsFunc(left, func(m harness.Machine) bool { return m.Claim != all[at].Claim && m.Initialized })
	})
	work(t, 0)
}

func deletesTemplates(t *testing.T) {
	serve(t)
	out, err := stack.EC2.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{})
	if err != nil || len(out.LaunchTemplates) == 0 {
		t.Fatalf("%v templates, %v", out, err)
	}
	for i := range out.LaunchTemplates {
		if _, err := stack.EC2.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: out.LaunchTemplates[i].LaunchTemplateId}); err != nil {
			t.Fatal(err)
		}
	}
	serve(t)
}

// faulty orders a fault of the simulator.
func faulty(t *testing.T, order map[string]any) {
	t.Helper()
	if err := stack.Control(t.Context(), "/_sim/faults", order, nil); err != nil {
		t.Fatal(err)
	}
}
