package contrast

// Kind is a kind of difference.
type Kind string

// The kinds of differences between plans. Missed is a defect in this project.
const (
	// Missed: the part of the reference's plan that breaks no rule places more pods than
	// our plan, or more of a higher priority.
	Missed Kind = "missed"
	// Urgent: the reference places more pods, and fewer of the most urgent.
	Urgent Kind = "urgent"
	// Invalid: the reference's plan breaks a rule of Kubernetes or of a NodePool. It is used
	// for plans and for consolidations.
	Invalid Kind = "invalid"
	// More: we place more pods than the reference does.
	More Kind = "more"
	// Exchanged: as many pods are placed or more, and other ones.
	Exchanged Kind = "exchanged"
	// FewerPreferences and MorePreferences: fewer or more preferences of pods that both
	// place are met by our plan.
	FewerPreferences Kind = "fewer-preferences"
	MorePreferences  Kind = "more-preferences"
	// Domains: pods with a constraint on nodes, zones or other domains are divided
	// among them in other numbers.
	Domains Kind = "domains"
	// Dearer: our plan costs more than the reference's, which places no more pods.
	Dearer Kind = "dearer"
)

// The kinds of differences between consolidations. Forbidden, Stranded and Kept are defects
// in this project.
const (
	// Forbidden: we remove a node that the reference's rules keep: annotations,
	// PodDisruptionBudgets, budgets, consolidateAfter or consolidationPolicy.
	Forbidden Kind = "forbidden"
	// Stranded: after a removal of ours a pod has no place, or needs another new node.
	Stranded Kind = "stranded"
	// Kept: in the cluster that our consolidation leaves, the reference would remove more,
	// within the rules, and the reason that we give is none of the kinds below.
	Kept Kind = "kept"
	// Uncertain: as Kept, where our reason is that the pods would fit elsewhere only if
	// the scheduler put every one where it is planned.
	Uncertain Kind = "uncertain"
	// OtherPath: our consolidation ends with a dearer cluster, in which the reference
	// finds nothing more either.
	OtherPath Kind = "other-path"
	// SavesMore: our consolidation ends with a cheaper cluster.
	SavesMore Kind = "saves-more"
	// OtherNodes: both end at the same cost, without the same nodes.
	OtherNodes Kind = "other-nodes"
)

// Kinds are all kinds, in the order of reports.
func Kinds() []Kind {
	return []Kind{
		Missed, Urgent, Invalid, More, Exchanged, FewerPreferences, MorePreferences, Domains, Dearer,
		Forbidden, Stranded, Kept, Uncertain, OtherPath, SavesMore, OtherNodes,
	}
}

// Defects are the kinds that are defects in this project.
func Defects() []Kind { return []Kind{Missed, Forbidden, Stranded, Kept} }

// Difference is one way in which the plans of a case differ.
type Difference struct {
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
}
