// Package launches measures what the nodes of one decision cost in calls to EC2:
// NodeClaims on a real API server, the reconciler that launches them, and the
// provider on an EC2 endpoint.
//
// Not here: whether each claim gets its instance, once (controller/cloud/aws).
package launches

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/index"
	"spokeshave.dev/controller/kube/reconcile/lifecycle"
	"spokeshave.dev/controller/kube/reconcile/reservation"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/ec2"
	"spokeshave.dev/test/kit/ec2provider"
	"spokeshave.dev/test/kit/eventually"
)

// BenchmarkLaunches launches the nodes of one decision, which want the same, as the
// controller does: claims are made one after another, and so many are worked
// on at once. It tells the calls by action from the first claim on, the time until all are
// launched, and by how much the heap grew. (docs/adr, "One fleet for many claims")
//
//	go test -run '^$' -bench Launches -benchtime 1x ./test/suite/launches
func BenchmarkLaunches(b *testing.B) {
	for _, claims := range []int{100, 200, 1000} {
		for _, workers := range []int{50, 200} {
			b.Run(fmt.Sprintf("claims=%d/workers=%d", claims, workers), func(b *testing.B) {
				for b.Loop() {
					launches(b, claims, workers)
				}
			})
		}
	}
}

func launches(b *testing.B, claims, workers int) {
	b.Helper()
	server := apiserver.Start(b)
	cloud, calls := onEC2(b, workers)
	server.Config.QPS, server.Config.Burst = 200, 300 // the chart's
	mgr := server.Manager(b)
	if err := index.Register(b.Context(), mgr.GetFieldIndexer()); err != nil {
		b.Fatal(err)
	}
	r := &lifecycle.Reconciler{Client: mgr.GetClient(), Provider: cloud, Events: mgr.GetEventRecorder("bench"), Clock: clock.RealClock{}, Reservations: reservation.New(mgr.GetClient(), clock.RealClock{}), Workers: workers}
	if err := r.SetupWithManager(mgr); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	defer apiserver.Run(b, mgr)()
	stop, grown := watchHeap(ctx)
	before := calls()
	begun := time.Now()
	for i := range claims { // one after another, as Apply does
		if err := mgr.GetClient().Create(ctx, claimOnEC2(b, i, claims)); err != nil {
			b.Fatal(err)
		}
	}
	state, err := eventually.Poll(ctx, 10*time.Minute, func(ctx context.Context) (string, bool) {
		var all karpv1.NodeClaimList
		if err := mgr.GetClient().List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
			return err.Error(), false
		}
		launched := 0
		for i := range all.Items {
			if condition.IsTrue(all.Items[i].Status.Conditions, karpv1.ConditionLaunched) {
				launched++
			}
		}
		return fmt.Sprintf("%d of %d", launched, claims), launched == claims
	})
	if err != nil {
		b.Fatal(eventually.Failure("all claims to be launched", 10*time.Minute, state, err))
	}
	took := time.Since(begun)
	stop()
	for action, n := range calls() {
		if n -= before[action]; n > 0 {
			b.ReportMetric(float64(n), action)
		}
	}
	b.ReportMetric(took.Seconds(), "s/all")
	b.ReportMetric(float64(grown.Load())/1e6, "MB-heap")
}

// watchHeap notes how much the heap in use has grown at most.
func watchHeap(ctx context.Context) (stop func(), grown *atomic.Int64) {
	grown = &atomic.Int64{}
	ctx, stop = context.WithCancel(ctx)
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	runtime.GC()
	first := inUse()
	go func() {
		every := time.NewTicker(100 * time.Millisecond)
		defer every.Stop()
		for {
			grown.Store(max(grown.Load(), inUse()-first))
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
		}
	}()
	return stop, grown
}

// onEC2 is the provider for EC2 with a class that is ready, and the calls that it has made, by
// action.
func onEC2(b *testing.B, workers int) (cloud *aws.Provider, calls func() map[string]int) {
	b.Helper()
	at := ec2.Start(b, []string{"m7i."})
	class := ec2provider.NodeClass("default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	cloud = ec2provider.New(b, at.URL, func(cfg *aws.Config) {
		cfg.Claims = workers
		cfg.Classes = func(context.Context, string) (*awsv1.EC2NodeClass, error) { return class, nil }
	})
	resolver := nodeclass.Resolver{Cloud: cloud.NodeClasses(), Clock: time.Now}
	var err error
	if class.Status, err = resolver.Resolve(b.Context(), class); err != nil {
		b.Fatal(err)
	}
	if err := cloud.Sources().Refresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	return cloud, func() map[string]int {
		out := map[string]int{}
		for action, byCode := range at.Server.State().Requests {
			for _, n := range byCode {
				out[action] += n
			}
		}
		return out
	}
}

// claimOnEC2 is a claim with as many options as a decision gives it.
func claimOnEC2(b *testing.B, i, of int) *karpv1.NodeClaim {
	b.Helper()
	var options []model.Option
	for _, kind := range []string{"large", "xlarge", "2xlarge", "4xlarge"} {
		for _, zone := range []string{"a", "b", "c"} {
			options = append(options, model.Option{InstanceType: "m7i." + kind, Zone: "us-west-2" + zone, CapacityType: model.OnDemand, Price: 100_000, Effective: 0.1})
		}
	}
	launch, err := json.Marshal(options)
	if err != nil {
		b.Fatal(err)
	}
	return &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("general-%04d", i), Labels: map[string]string{karpv1.LabelNodePool: "general"},
			Annotations: map[string]string{karpv1.AnnotationLaunch: string(launch), karpv1.AnnotationReservedUSD: "0.1", karpv1.AnnotationLaunchGroup: provider.Group{Name: "decision-0", Size: of}.String()},
			Finalizers:  []string{karpv1.FinalizerTermination},
		},
		Spec: karpv1.NodeClaimSpec{
			Requirements: []karpv1.Requirement{{Key: "example.com/fixed", Operator: corev1.NodeSelectorOpIn, Values: []string{"one"}}},
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		},
	}
}
