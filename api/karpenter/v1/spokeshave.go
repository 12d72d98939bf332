package v1

// Domain prefixes the labels and annotations that Spokeshave adds to the
// compatible API. Nothing in Karpenter reads them.
const Domain = "spokeshave.dev"

// Annotations that the controller writes on NodeClaims.
const (
	// AnnotationLaunch is the ranked list of offerings the claim may be launched on, as JSON, best first.
	AnnotationLaunch = Domain + "/launch"
	// AnnotationLaunchGroup names the claims of the decision that are launched with the same options and labels,
	// with their number ("<name>/<number>"): they share requests, which wait for all of them.
	AnnotationLaunchGroup = Domain + "/launch-group"
	// AnnotationAttempt records the launch attempt under way (token, exact request, claims), as JSON,
	// written before the provider is called so that a retry repeats the identical request.
	AnnotationAttempt = Domain + "/attempt"
	// AnnotationAttemptedAt is the RFC 3339 time at which that attempt was written down: what it starts is
	// paid for from then on at the earliest.
	AnnotationAttemptedAt = Domain + "/attempted-at"
	// AnnotationPlannedPods lists the pods ("namespace/name", as JSON) that the plan puts on the node.
	AnnotationPlannedPods = Domain + "/planned-pods"
	// AnnotationDecision is the id of the Decision in the journal that created the claim.
	AnnotationDecision = Domain + "/decision"
	// AnnotationReservedUSD is the worst-case price, in US dollars an hour as a decimal, that ceilings hold
	// for the claim until its instance is known.
	AnnotationReservedUSD = Domain + "/reserved-usd"
	// AnnotationBought is what the claim's instance cost when its launch was decided, billed in micro-dollars
	// an hour and as the rank policies see it in dollars, as JSON.
	AnnotationBought = Domain + "/bought"
	// AnnotationNodePoolLabels are the NodePool's own labels when the claim was made, as JSON: what the
	// node costs is theirs also when the NodePool is gone.
	AnnotationNodePoolLabels = Domain + "/nodepool-labels"
	// AnnotationDisruption is the disruption under way of the claim's node, as JSON: which claims go
	// together, and which have to be ready in their stead before.
	AnnotationDisruption = Domain + "/disruption"
	// AnnotationUndone is the RFC 3339 time at which a disruption of the claim's node was last taken back.
	AnnotationUndone = Domain + "/disruption-undone"
	// AnnotationReplaces lists the claims (comma-separated) in whose stead the claim was made.
	AnnotationReplaces = Domain + "/replaces"
)

// LabelPolicy is "true" on a ConfigMap that carries a policy.
const LabelPolicy = Domain + "/policy"
