package doctor

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/rehearse/scenario"
)

// Cluster is what was read of a cluster or of files.
type Cluster struct {
	// Source names the cluster or the files.
	Source string
	// Live says that a running cluster was read.
	Live bool
	// Objects are what a decision is made of. Of a live cluster they hold no Deployments.
	Objects *scenario.Objects
	// Deployments are those among which controllers are looked for.
	Deployments []*appsv1.Deployment
	Leases      []*coordinationv1.Lease
	// Foreign are objects of other controllers that are not of a kind in Objects.
	Foreign []Reference
	// Extensions are objects of Karpenter's that have no effect here: NodeOverlays.
	Extensions []Reference
	// Events are those about NodeClaims, and the bindings of pods.
	Events []*corev1.Event
	// Policies is the status of Spokeshave's policies.
	Policies []policy.Status
	// Unread is what could not be read.
	Unread []Unread
}

// Reference names an object.
type Reference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Unread is an object, a file or a list that could not be read.
type Unread struct {
	// What is a list ("nodes"), a file with line, or an object.
	What string `json:"what"`
	// Why is the error.
	Why string `json:"why"`
	// Remedy is what to do about it.
	Remedy string `json:"remedy"`
	// Needed says that the report may be wrong without it. Otherwise it only says less.
	Needed bool `json:"needed"`
}

// Setting is what there is to say about a setting of Karpenter's.
type Setting struct {
	// Source is flag, environment variable or feature gate.
	Source string `json:"source"`
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	// Unknown says that it is no setting, although it looks like one.
	Unknown bool   `json:"unknown,omitempty"`
	Message string `json:"message"`
}

// Input is what a report is made of.
type Input struct {
	Time    time.Time
	Cluster *Cluster
	// Karpenter and Spokeshave are what FindKarpenter and FindSpokeshave found, nil for
	// none.
	Karpenter, Spokeshave *Installation
	// Settings are the findings about Karpenter's settings.
	Settings []Setting
	// Permissions says which IAM permissions are missing; nil when no policy was given.
	Permissions *Permissions
	// Money is the outcome of Count, nil when nothing was counted. MoneyError says why.
	Money      *Money
	MoneyError error
}
