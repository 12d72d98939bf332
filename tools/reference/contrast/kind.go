package contrast

// Kind is a kind of difference.
type Kind string

// The kinds. Missed is a defect in this project; the others have reasons.
const (
	// Missed: the part of the reference's plan that breaks no rule places more pods than
	// our plan, or more of a higher priority.
	Missed Kind = "missed"
	// Urgent: the reference places more pods, and fewer of the most urgent.
	Urgent Kind = "urgent"
	// Invalid: the reference's plan breaks a rule of Kubernetes or of a NodePool.
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

// Kinds are all kinds, in the order of reports.
func Kinds() []Kind {
	return []Kind{Missed, Urgent, Invalid, More, Exchanged, FewerPreferences, MorePreferences, Domains, Dearer}
}

// Difference is one way in which the plans of a case differ.
type Difference struct {
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
}
