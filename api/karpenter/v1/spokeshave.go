package v1

// Domain prefixes the labels and annotations that Spokeshave adds to the
// compatible API. Nothing in Karpenter reads them.
const Domain = "spokeshave.dev"

// Annotations that the controller writes on NodeClaims.
const (
	// AnnotationLaunch is the ranked list of offerings the claim may be launched on, as JSON, best first.
	AnnotationLaunch = Domain + "/launch"
	// AnnotationLaunchGroup names the group of the decision's claims that are launched
	// with the same options and labels, with their number ("<name>/<number>"). The
	// claims of a group share launch requests, which are sent only when all of them are
	// ready.
	AnnotationLaunchGroup = Domain + "/launch-group"
	// AnnotationAttempt records the launch attempt under way (token, exact request, claims), as JSON,
	// written before the provider is called so that a retry repeats the identical request.
	AnnotationAttempt = Domain + "/attempt"
	// AnnotationLaunchesPaused is, on a NodePool, until when nothing is launched from it, as
	// RFC 3339, followed by a space and why: nodes of it could not be launched, or did
	// not join.
	AnnotationLaunchesPaused = Domain + "/launches-paused-until"
	// AnnotationAttemptedAt is the RFC 3339 time at which that attempt was stored. EC2
	// bills an instance that it starts from this time at the earliest.
	AnnotationAttemptedAt = Domain + "/attempted-at"
	// AnnotationPlannedPods lists the pods ("namespace/name", as JSON) that the plan puts on the node.
	AnnotationPlannedPods = Domain + "/planned-pods"
	// AnnotationAnnouncedPods counts the pods that the plan puts on the node and that do not
	// exist yet, by the owner that has announced them ("kind/namespace/name"), as JSON. A pod
	// of the owner that comes takes one of the places.
	AnnotationAnnouncedPods = Domain + "/announced-pods"
	// AnnotationDecision is the id of the Decision in the journal that created the claim.
	AnnotationDecision = Domain + "/decision"
	// AnnotationReservedUSD is the highest possible price, in US dollars an hour as a
	// decimal, that counts against spending limits until the claim's instance is known.
	AnnotationReservedUSD = Domain + "/reserved-usd"
	// AnnotationBought is what the claim's instance cost when its launch was decided,
	// as JSON: the billed price in micro-dollars an hour, and the effective cost after
	// rank policies in dollars an hour.
	AnnotationBought = Domain + "/bought"
	// AnnotationNodePoolLabels are the NodePool's own labels when the claim was made,
	// as JSON. The node's cost is attributed to them also after the NodePool is
	// deleted.
	AnnotationNodePoolLabels = Domain + "/nodepool-labels"
	// AnnotationDisruption is the disruption under way of the claim's node, as JSON:
	// which claims are removed together, and which replacements have to be ready first.
	AnnotationDisruption = Domain + "/disruption"
	// AnnotationUndone is the RFC 3339 time at which a disruption of the claim's node
	// was last cancelled.
	AnnotationUndone = Domain + "/disruption-undone"
	// AnnotationInterrupted is the RFC 3339 time at which the claim's node has to be gone,
	// because EC2 has announced that it takes the instance away. The instance stops to count
	// against spending limits. Unlike Karpenter's AnnotationTerminationTimestamp, only the
	// controller may write it.
	AnnotationInterrupted = Domain + "/interrupted"
	// AnnotationReplaces lists the claims (comma-separated) that this claim was made to
	// replace.
	AnnotationReplaces = Domain + "/replaces"
	// AnnotationForMovedPods is "true" on a claim that was made for waiting pods while pods
	// had to leave other nodes, or soon after, and so perhaps for them, and on one that
	// replaces such a claim. Consolidation takes no risk with its node.
	AnnotationForMovedPods = Domain + "/for-moved-pods"
)

// AnnotationMoveCost is, on a NodePool, what the move of one of its nodes' pods costs, in US
// dollars an hour: consolidation has to save more. It takes the place of the controller's
// setting.
const AnnotationMoveCost = Domain + "/move-cost"

// AnnotationSuspendedUntil is, on the ConfigMap of a policy, the RFC 3339 time until
// which the policy is not asked, at most 24 hours ahead.
const AnnotationSuspendedUntil = Domain + "/suspended-until"

// AnnotationAcceptLedger is, on the ConfigMap of the ledger, the RFC 3339 time of a doubt
// about what the month has cost. It accepts the estimate.
const AnnotationAcceptLedger = Domain + "/accept-ledger"

// LabelSpendYear is, on a ConfigMap of the history of spend, the year of its month.
const LabelSpendYear = Domain + "/spend-year"

// LabelPolicy is "true" on a ConfigMap that contains a policy.
const LabelPolicy = Domain + "/policy"
