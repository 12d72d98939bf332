package check

import "fmt"

// Kind says which rule a violation breaks.
type Kind string

// The kinds of violations.
const (
	// BadReference: an index or a name refers to nothing.
	BadReference Kind = "BadReference"
	// Accounting: a pod is placed twice or is lost, or a node is planned that
	// no pod needs.
	Accounting Kind = "Accounting"
	// Resources: requests exceed what is allocatable.
	Resources Kind = "Resources"
	// Requests: the requests of a planned node's claim leave out pods or DaemonSets.
	Requests Kind = "Requests"
	// Selector: a node selector or required node affinity does not match.
	Selector Kind = "Selector"
	// Taints: a taint is not tolerated.
	Taints Kind = "Taints"
	// Ports: two pods of a node use the same host port.
	Ports Kind = "Ports"
	// PoolRequirements: an option or a label is not what the NodePool allows.
	PoolRequirements Kind = "PoolRequirements"
	// Offering: an option is not for sale, or not at that price.
	Offering Kind = "Offering"
	// Reserved: more nodes would use a capacity reservation than it has free.
	Reserved Kind = "Reserved"
	// Limits: a NodePool's limits are exceeded.
	Limits Kind = "Limits"
	// OverHeadroom: the most expensive outcome costs more than a ceiling leaves.
	OverHeadroom Kind = "Headroom"
	// Refused: an option was denied by a ceiling policy.
	Refused Kind = "Refused"
	// Excluded: an option was excluded by a rank policy.
	Excluded Kind = "Excluded"
	// MinValues: the options have fewer values of a label than the NodePool wants.
	MinValues Kind = "MinValues"
	// Spread: a topology spread constraint is exceeded.
	Spread Kind = "Spread"
	// Affinity: no order of binding satisfies a pod's required pod affinity.
	Affinity Kind = "Affinity"
	// AntiAffinity: required pod anti-affinity is broken, the pod's own or that
	// of a pod in the same domain.
	AntiAffinity Kind = "AntiAffinity"
)

// Violation is one way in which a plan is wrong.
type Violation struct {
	Kind Kind `json:"kind"`
	// Where is the planned node ("node 3 of pool default"), the existing node
	// or the pod concerned.
	Where   string `json:"where"`
	Message string `json:"message"`
	// Pods index Snapshot.Pods: those that the plan puts where the rule is broken,
	// where that is one node.
	Pods []int32 `json:"-"`
}

// String is the violation in one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Where, v.Kind, v.Message) }
