package ceilings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
)

// apply writes what the actuator writes, and says whether it came to the end.
func (w *cappedCluster) apply(s *model.Snapshot, d, whole *decide.Decision) bool {
	at := 0
	for range d.Plan.Nodes {
		if w.chance(30) {
			w.restart()
			return false
		}
		w.claim(s, whole, at, nil)
		if s.Pools[whole.Plan.Nodes[at].Pool].Replicas != nil {
			w.tally.static++
		}
		at++
		w.tally.launched++
	}
	for i := range d.Plan.Existing {
		w.assign(s, &d.Plan.Existing[i])
	}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Go {
			if c := w.find(s.Nodes[each.Node].Claim); c != nil {
				w.delete(c, "empty")
			}
		}
	}
	for i := range d.Commands {
		at = w.command(s, whole, &d.Commands[i], at)
	}
	return true
}

func (w *cappedCluster) claim(s *model.Snapshot, whole *decide.Decision, at int, replaces []string) string {
	name := s.Pools[whole.Plan.Nodes[at].Pool].Name
	i := slices.IndexFunc(w.pools, func(p *karpv1.NodePool) bool { return p.Name == name })
	claim, err := actuate.Claim(s, w.pools[i], whole, at)
	if err != nil {
		w.fail("claim: %v", err)
	}
	claim.CreationTimestamp, claim.UID = metav1.NewTime(w.clock.Now()), types.UID(claim.Name)
	if len(replaces) > 0 {
		claim.Annotations[karpv1.AnnotationReplaces] = strings.Join(replaces, ",")
	}
	w.claims = append(w.claims, claim)
	w.log("%s is to be launched, worst %s", claim.Name, claim.Annotations[karpv1.AnnotationReservedUSD])
	return claim.Name
}

// assign plans pods onto a node that is coming.
func (w *cappedCluster) assign(s *model.Snapshot, to *model.Assignment) {
	c := w.find(s.Nodes[to.Node].Claim)
	if c == nil || s.Nodes[to.Node].State != model.InFlight {
		return
	}
	keys := planned(c)
	for _, p := range to.Pods {
		keys = append(keys, s.Pods[p].Key())
	}
	slices.Sort(keys)
	text, err := json.Marshal(slices.Compact(keys))
	if err != nil {
		w.fail("assign: %v", err)
	}
	c.Annotations[karpv1.AnnotationPlannedPods] = string(text)
}

func (w *cappedCluster) command(s *model.Snapshot, whole *decide.Decision, c *decide.Command, at int) int {
	switch c.Stage {
	case decide.Start:
		mark := model.Command{ID: fmt.Sprintf("%s-%d", whole.ID, c.Nodes[0]), Method: string(c.Method), Started: s.Time}
		for _, n := range c.Nodes {
			mark.Nodes = append(mark.Nodes, s.Nodes[n].Claim)
		}
		for range c.Replacements {
			mark.Replacements = append(mark.Replacements, w.claim(s, whole, at, mark.Nodes))
			at++
			w.tally.replaced++
		}
		w.mark(&mark)
	case decide.Finish:
		for _, n := range c.Nodes {
			w.delete(w.find(s.Nodes[n].Claim), string(c.Method))
		}
	case decide.Undo:
		for _, n := range c.Nodes {
			claim := w.find(s.Nodes[n].Claim)
			delete(claim.Annotations, karpv1.AnnotationDisruption)
			claim.Annotations[karpv1.AnnotationUndone] = s.Time.Format(time.RFC3339)
			w.taint(claim.Status.NodeName, nil)
		}
		w.excuse() // both nodes stay, and both count from now on
	case decide.Wait:
	}
	return at
}

func (w *cappedCluster) mark(mark *model.Command) {
	text, err := json.Marshal(mark)
	if err != nil {
		w.fail("mark: %v", err)
	}
	for _, name := range mark.Nodes {
		c := w.find(name)
		c.Annotations[karpv1.AnnotationDisruption] = string(text)
		w.taint(c.Status.NodeName, new(karpv1.DisruptedTaint()))
	}
}

// started holds what is committed and in flight against the caps at the moment
// when EC2 has started a machine. What was above before the launch was decided on,
// through prices or caps that changed, is excused, to the micro-dollar; whatever
// was launched since counts.
func (w *cappedCluster) started(claim *karpv1.NodeClaim) {
	w.t.Helper()
	bill := w.cloud.Bill()
	at := slices.IndexFunc(bill, func(b sim.Billed) bool { return b.Claim == claim.Name })
	if at < 0 {
		return // nothing was started
	}
	w.meter.enter(w, &bill[at])
	machine := w.meter.machines[claim.Name]
	if !slices.ContainsFunc(options(claim), func(o model.Option) bool {
		return o.InstanceType == machine.InstanceType && o.Zone == machine.Zone && o.CapacityType == machine.CapacityType
	}) {
		w.fail("%s: EC2 started %+v, which is none of its options", claim.Name, machine)
	}
	for scope, limit := range w.limits() {
		if now := w.committed(scope); now > limit+w.meter.excused[scope]+w.slack(scope) {
			w.fail("%s: %s $/h are committed after EC2 started %s, above the cap of %s and %s that were above before",
				scope, now, claim.Name, limit, w.meter.excused[scope])
		}
	}
}
