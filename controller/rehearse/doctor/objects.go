package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/managed"
)

// Pool is a NodePool and what there is of it.
type Pool struct {
	Name      string `json:"name"`
	NodeClass string `json:"nodeClass"`
	// Foreign says that it belongs to another controller.
	Foreign bool `json:"foreign,omitempty"`
	// Ready is its condition: True, False, Unknown, or empty where it has none yet.
	Ready string `json:"ready,omitempty"`
	// NodeClaims is how many it has.
	NodeClaims int `json:"nodeClaims"`
}

// Claims counts NodeClaims by what has become of them. Foreign ones count as nothing else.
type Claims struct {
	All      int `json:"all"`
	Ready    int `json:"ready"`
	Starting int `json:"starting"`
	Leaving  int `json:"leaving"`
	Drifted  int `json:"drifted"`
	Foreign  int `json:"foreign"`
}

func pools(c *Cluster) []Pool {
	of := map[string]int{}
	for _, claim := range c.Objects.NodeClaims {
		of[claim.Labels[karpv1.LabelNodePool]]++
	}
	out := []Pool{}
	for _, p := range c.Objects.NodePools {
		ref := &p.Spec.Template.Spec.NodeClassRef
		one := Pool{Name: p.Name, NodeClass: ref.Name, Foreign: !managed.Pool(p), NodeClaims: of[p.Name]}
		if ready := meta.FindStatusCondition(p.Status.Conditions, karpv1.ConditionReady); ready != nil {
			one.Ready = string(ready.Status)
		}
		out = append(out, one)
	}
	if t := c.Objects.Taken; t != nil {
		for i := range t.Snapshot.Pools {
			p := &t.Snapshot.Pools[i]
			one := Pool{Name: p.Name, NodeClass: p.NodeClass}
			for k := range t.Snapshot.Nodes {
				if int(t.Snapshot.Nodes[k].Pool) == i && t.Snapshot.Nodes[k].Claim != "" {
					one.NodeClaims++
				}
			}
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b Pool) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func claims(c *Cluster) Claims {
	var out Claims
	for _, claim := range c.Objects.NodeClaims {
		out.All++
		conditions := claim.Status.Conditions
		switch {
		case !managed.Claim(claim):
			out.Foreign++
			continue
		case !claim.DeletionTimestamp.IsZero():
			out.Leaving++
		case meta.IsStatusConditionTrue(conditions, karpv1.ConditionReady):
			out.Ready++
		default:
			out.Starting++
		}
		if meta.IsStatusConditionTrue(conditions, karpv1.ConditionDrifted) {
			out.Drifted++
		}
	}
	return out
}

// at adds where an object stands, if it was read from a file.
func (c *Cluster) at(object string) string {
	if s := c.Objects.Source(object); s.File != "" {
		return object + " (" + s.String() + ")"
	}
	return object
}

// poolFindings: what keeps NodePools from launching, by the checks that simulate and the
// controller make.
func poolFindings(c *Cluster) []Finding {
	var out []Finding
	for _, p := range c.Objects.NodePools {
		if managed.Pool(p) {
			out = append(out, onePoolFindings(c, p)...)
		}
	}
	if t := c.Objects.Taken; t != nil {
		for i := range t.Snapshot.Pools {
			if p := &t.Snapshot.Pools[i]; p.NotReady != "" {
				out = append(out, Finding{Objects, true, "NodePool " + p.Name, p.NotReady, readyFirst})
			}
		}
	}
	return out
}

// readyFirst is what to do about an object that is not ready.
const readyFirst = "make it ready first, so that a fault is not taken for one of the swap"

func onePoolFindings(c *Cluster, p *karpv1.NodePool) []Finding {
	var out []Finding
	add := func(message, remedy string) {
		out = append(out, Finding{Objects, true, c.at("NodePool " + p.Name), message, remedy})
	}
	problems := lower.Problems(p)
	for _, problem := range problems {
		add(problem.String(), "correct the field")
	}
	if problem := lower.Contradiction(p); problem != "" && len(problems) == 0 {
		add(problem, "correct the requirements: nothing is launched, by either controller")
	}
	ref := &p.Spec.Template.Spec.NodeClassRef
	if ref.Kind != "" && ref.Kind != awsv1.Kind {
		add(fmt.Sprintf("nodeClassRef names a kind %s of group %s", ref.Kind, awsv1.Group), "want kind "+awsv1.Kind)
	} else if c.lacksClass(ref.Name) {
		add("EC2NodeClass "+ref.Name+" does not exist", "make it, or name another in nodeClassRef")
	}
	if !p.DeletionTimestamp.IsZero() {
		add("it is being deleted, with its nodes", "wait until it has gone")
	}
	if why := notReady(p.Status.Conditions, karpv1.ConditionNodeClassReady); why != "" {
		add(why, readyFirst)
	}
	return out
}

// lacksClass reports whether an EC2NodeClass is known not to exist.
func (c *Cluster) lacksClass(name string) bool {
	known := c.isRead("ec2nodeclasses.karpenter.k8s.aws") || !c.Live && len(c.Objects.NodeClasses) > 0
	return name != "" && known && !slices.ContainsFunc(c.Objects.NodeClasses, func(o *awsv1.EC2NodeClass) bool { return o.Name == name })
}

// classFindings: EC2NodeClasses that are not ready, and fields that cannot be carried out.
func classFindings(c *Cluster) []Finding {
	var out []Finding
	for _, class := range c.Objects.NodeClasses {
		subject := c.at("EC2NodeClass " + class.Name)
		if why := notReady(class.Status.Conditions); why != "" {
			out = append(out, Finding{Objects, true, subject, why, readyFirst})
		}
		if class.Spec.Role == "" && class.Spec.InstanceProfile == nil {
			out = append(out, Finding{Objects, true, subject, "spec.role and spec.instanceProfile are both missing", "name one of them"})
		}
		if !class.DeletionTimestamp.IsZero() {
			out = append(out, Finding{Objects, true, subject, "it is being deleted", "wait until it has gone"})
		}
	}
	return out
}

// notReady returns why the condition Ready is False, "" when it is not. Conditions to
// leave out speak of other objects, which have findings of their own.
func notReady(conditions []metav1.Condition, leaveOut ...string) string {
	ready := meta.FindStatusCondition(conditions, karpv1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse {
		return ""
	}
	var why []string
	others := false
	for i := range conditions {
		cond := &conditions[i]
		if cond.Type == karpv1.ConditionReady || cond.Status != metav1.ConditionFalse || cond.Type == karpv1.ConditionNodeRegistrationHealthy {
			continue
		}
		if slices.Contains(leaveOut, cond.Type) {
			others = true
			continue
		}
		why = append(why, fmt.Sprintf("%s is False: %s", cond.Type, cmp.Or(cond.Message, cond.Reason)))
	}
	if len(why) == 0 {
		if others {
			return ""
		}
		return "not ready: " + cmp.Or(ready.Message, ready.Reason)
	}
	return strings.Join(why, "; ")
}

// claimFindings: claims that wait or leave are not in the way; they are said for the
// comparison after the swap.
func claimFindings(c *Cluster) []Finding {
	var out []Finding
	for _, claim := range c.Objects.NodeClaims {
		if !managed.Claim(claim) {
			continue
		}
		subject, conditions := c.at("NodeClaim "+claim.Name), claim.Status.Conditions
		ref := &claim.Spec.NodeClassRef
		switch {
		case !claim.DeletionTimestamp.IsZero():
			out = append(out, Finding{Objects, false, subject, "it is being deleted: the new controller goes on with it", ""})
		case c.lacksClass(ref.Name):
			out = append(out, Finding{Objects, false, subject, "EC2NodeClass " + ref.Name + " does not exist: it is launched when the class comes, and deleted after five minutes without", ""})
		case !meta.IsStatusConditionTrue(conditions, karpv1.ConditionReady):
			out = append(out, Finding{Objects, false, subject, "not ready: " + lacks(conditions), ""})
		}
		if meta.IsStatusConditionTrue(conditions, karpv1.ConditionDrifted) {
			out = append(out, Finding{Objects, false, subject, "it has drifted: the new controller replaces it too, within the budgets", ""})
		}
	}
	return out
}

// lacks returns the stage of its life that a claim waits for.
func lacks(conditions []metav1.Condition) string {
	for _, stage := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized} {
		if meta.IsStatusConditionTrue(conditions, stage) {
			continue
		}
		c := meta.FindStatusCondition(conditions, stage)
		if c == nil {
			return stage + " is not known yet"
		}
		return strings.TrimSuffix(fmt.Sprintf("%s is %s: %s", stage, c.Status, cmp.Or(c.Message, c.Reason)), ": ")
	}
	return "its conditions are being updated"
}
