package actuate

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
)

// heard is an events.EventRecorder that keeps what is said about whom.
type heard struct {
	mu   sync.Mutex
	said []string
}

func (h *heard) Eventf(regarding, _ runtime.Object, _, reason, _, note string, args ...any) {
	name := "?"
	if o, ok := regarding.(client.Object); ok && o.GetUID() != "" {
		name = fmt.Sprintf("%T", o)[4:] + "/" + o.GetName()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, name+" "+reason+": "+fmt.Sprintf(note, args...))
}

func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.said
	h.said = nil
	slices.Sort(out)
	return out // nil when nothing was said
}

// machine makes a Node and its NodeClaim.
func machine(t *testing.T, c client.Client, node, claim string) {
	t.Helper()
	for _, o := range []client.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}},
		&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}, Spec: karpv1.NodeClaimSpec{
			Requirements: []karpv1.Requirement{{Key: "example.com/fixed", Operator: corev1.NodeSelectorOpIn, Values: []string{"one"}}},
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		}},
	} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStays: a node that could go hears why it does not, on the Node and on the
// NodeClaim; its NodePool hears of its own budgets. What lasts is not repeated
// with every decision.
func TestStays(t *testing.T) {
	c := connect(t)
	machine(t, c, "one", "claim-1")
	pools := map[string]*karpv1.NodePool{"general": {ObjectMeta: metav1.ObjectMeta{Name: "general", UID: "pool-uid"}}}
	told := new(heard)
	a := &actuate.Actuator{Client: c, Reporter: &actuate.Reporter{Client: c, Events: told, Unmerged: told}}
	start := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	on := func(what string) []string { return []string{"Node/one " + what, "NodeClaim/claim-1 " + what} }
	why := func(kind disrupt.Kind, policy, text string) decide.Disruption {
		return decide.Disruption{Method: disrupt.Underutilized, Kind: kind, Policy: policy, Reason: text}
	}
	for _, tc := range []struct {
		reason string
		after  time.Duration
		why    decide.Disruption
		barren []int32
		want   []string
	}{
		{reason: "what passes by itself is no news", why: why(disrupt.Waiting, "", "consolidateAfter has not passed")},
		{reason: "nothing to gain", why: why(disrupt.NoSaving, "", "no cheaper place"), want: on("Unconsolidatable: no cheaper place")},
		{reason: "it lasts", after: 30 * time.Minute, why: why(disrupt.NoSaving, "", "no cheaper place")},
		{reason: "another reason is news of its own", after: 30 * time.Minute, why: why(disrupt.Blocked, "", "a PodDisruptionBudget"), want: on("DisruptionBlocked: a PodDisruptionBudget")},
		{reason: "not in other words at once", after: 30*time.Minute + time.Second, why: why(disrupt.Blocked, "night", "day shift")},
		{reason: "but soon", after: 31 * time.Minute, why: why(disrupt.Blocked, "night", "day shift"), want: on("DisruptionBlocked: policy night keeps the node: day shift")},
		{reason: "the API server has forgotten the event", after: time.Hour, why: why(disrupt.NoSaving, "", "no cheaper place"), want: on("Unconsolidatable: no cheaper place")},
		{reason: "under Balanced", after: time.Hour, why: why(disrupt.SavingTooSmall, "", "too little"), want: on("ConsolidationRejected: too little")},
		{reason: "budgets are the pool's", after: time.Hour, why: why(disrupt.OverBudget, "", "budgets"), want: []string{"NodePool/general DisruptionBlocked: the disruption budgets let no more nodes go now: Underutilized"}},
		{reason: "once", after: 61 * time.Minute, why: why(disrupt.OverBudget, "", "budgets")},
		{reason: "a pool that can launch nothing", after: 61 * time.Minute, why: why(disrupt.Waiting, "", ""), barren: []int32{0}, want: []string{"NodePool/general NoCompatibleInstanceTypes: no instance type that its node class offers meets the NodePool's requirements"}},
		{reason: "once", after: 62 * time.Minute, why: why(disrupt.Waiting, "", ""), barren: []int32{0}},
	} {
		s := &model.Snapshot{
			Time: start.Add(tc.after), Pools: []model.Pool{{Name: "general"}},
			Nodes: []model.Node{{Name: "one", Claim: "claim-1", State: model.Initialized}},
		}
		d := &decide.Decision{Disruptions: []decide.Disruption{tc.why}, PoolsWithoutOfferings: tc.barren}
		if _, err := a.Disrupt(t.Context(), s, d); err != nil {
			t.Fatal(err)
		}
		a.Reporter.TellPools(s, pools, d)
		if diff := cmp.Diff(tc.want, told.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestConsolidationTold: the nodes of a consolidation hear that it is planned,
// that it goes on, and that it does not. The log has each step that changes something.
func TestConsolidationTold(t *testing.T) {
	c := connect(t)
	told := new(heard)
	a := &actuate.Actuator{Client: c, Reporter: &actuate.Reporter{Client: c, Events: told, Unmerged: told}}
	machine(t, c, "spare", "claim-9")
	s := &model.Snapshot{Time: time.Now(), Nodes: []model.Node{{Name: "spare", Claim: "claim-9", State: model.Initialized}}}
	var logged []string
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{}))
	both := func(what string) []string { return []string{"Node/spare " + what, "NodeClaim/claim-9 " + what} }
	for _, tc := range []struct {
		reason  string
		command decide.Command
		want    []string
		log     []string
	}{
		{reason: "planned", command: decide.Command{Method: disrupt.Underutilized, Stage: decide.Start, Savings: 500_000}, want: both(
			"ConsolidationCandidate: spare to go without a replacement, saves 0.5000 $/h"), log: []string{`"level"=0 "msg"="disruption begins" "command"="d-0" "reason"="Underutilized" "nodes"=["spare"] "replacements"=[] "savesUSDPerHour"="0.5000"`}},
		{reason: "taken back", command: decide.Command{Method: disrupt.Underutilized, Stage: decide.Undo, Invalid: true, Reason: "prices have changed"}, want: both(
			"ConsolidationRejected: disruption (Underutilized) of spare was taken back: prices have changed"), log: []string{`"level"=0 "msg"="disruption is taken back" "command"="" "reason"="Underutilized" "nodes"=["spare"] "because"="prices have changed"`}},
		{reason: "a launch that failed says nothing against it", command: decide.Command{Method: disrupt.Underutilized, Stage: decide.Undo, Reason: "no node"}, want: both(
			"DisruptionBlocked: disruption (Underutilized) of spare was taken back: no node"), log: []string{`"level"=0 "msg"="disruption is taken back" "command"="" "reason"="Underutilized" "nodes"=["spare"] "because"="no node"`}},
		{reason: "drift is no consolidation", command: decide.Command{Method: disrupt.Drifted, Stage: decide.Start}, log: []string{`"level"=0 "msg"="disruption begins" "command"="d-0" "reason"="Drifted" "nodes"=["spare"] "replacements"=[] "savesUSDPerHour"="0.0000"`}},
		{reason: "looked at again", command: decide.Command{Method: disrupt.Underutilized, Stage: decide.Finish, Savings: 500_000}, want: slices.Sorted(slices.Values(append(
			both("ConsolidationApproved: pods, budgets, policies and prices still let spare go, saves 0.5000 $/h"),
			both("DisruptionTerminating: disrupting node spare: Underutilized, it cost 0.0000 $/h")...))), log: []string{`"level"=0 "msg"="node is being removed" "node"="spare" "claim"="claim-9" "reason"="Underutilized" "costUSDPerHour"="0.0000"`}},
	} {
		tc.command.Nodes = []int32{0}
		if _, err := a.Command(ctx, s, nil, &decide.Decision{ID: "d", Commands: []decide.Command{tc.command}}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, told.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
		if diff := cmp.Diff(tc.log, logged); diff != "" {
			t.Errorf("%s: log (-want +got):\n%s", tc.reason, diff)
		}
		logged = nil
	}
}
