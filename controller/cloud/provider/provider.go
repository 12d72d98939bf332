// Package provider is the port to a cloud: what the controller asks of it, in
// values of controller/core/model, and the kinds of error it may answer with.
//
// Not here: any cloud. provider/aws speaks to EC2, provider/sim simulates one.
package provider

import (
	"context"
	"encoding/json"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Provider launches and ends instances. It is safe for concurrent use.
type Provider interface {
	// Catalog is what the node class can launch now: prices current, offerings
	// recently found sold out marked unavailable.
	Catalog(ctx context.Context, nodeClass string) (model.Catalog, error)
	// Prepare turns a spec into the exact request of one launch attempt and
	// creates what the request refers to (launch templates). It starts no
	// instance. The caller writes the attempt down before it launches it.
	Prepare(ctx context.Context, spec LaunchSpec) (Attempt, error)
	// Launch carries an attempt out. The same attempt launched twice starts
	// one instance: a timeout is answered by repeating it. After an error
	// whose kind is Definitive a new attempt is needed.
	Launch(ctx context.Context, attempt Attempt) (Instance, error)
	// Get describes an instance by provider ID; kind NotFound when it is
	// unknown or terminated.
	Get(ctx context.Context, providerID string) (Instance, error)
	// List describes every instance of this cluster that a NodePool launched
	// and that is not terminated.
	List(ctx context.Context) ([]Instance, error)
	// Terminate ends an instance. Kind NotFound when it is gone already.
	Terminate(ctx context.Context, providerID string) error
	// Tag sets tags on an instance, replacing equal keys.
	Tag(ctx context.Context, providerID string, tags map[string]string) error
}

// LaunchSpec is one node to launch.
type LaunchSpec struct {
	Claim     string
	NodePool  string
	NodeClass string
	// Ordinal numbers the attempts of a claim, from 0; it makes tokens differ.
	Ordinal int
	// Group are the claims that were made together to be launched with the same; the zero
	// value is not known.
	Group Group
	// Options are the ways to launch, best first, of one capacity type per
	// request: the provider uses the leading run that shares the first's.
	Options []model.Option
	// Labels, Taints and StartupTaints reach the node through user data.
	Labels        map[string]string
	Taints        []model.Taint
	StartupTaints []model.Taint
	// Tags are added to those of the node class.
	Tags map[string]string
}

// Attempt is a launch written down: replaying it is always safe.
type Attempt struct {
	Token string `json:"token"`
	// Ordinal numbers the attempts of the claim.
	Ordinal int `json:"ordinal"`
	// Claim is the one that this copy of the attempt is written on; the only one
	// of Claims when empty.
	Claim string `json:"claim,omitempty"`
	// Claims are those the request launches instances for, sorted. All of them
	// hold the same token and request, and the request is sent only once each
	// has written it down.
	Claims []string `json:"claims"`
	// Request is the provider's exact request, opaque to callers.
	Request json.RawMessage `json:"request,omitempty"`
	// Annotations go on the claim together with the attempt; Drifted reads them.
	Annotations map[string]string `json:"-"`
	// Labels go on the claim likewise, and from there on the node.
	Labels map[string]string `json:"-"`
}

// Owner is the claim that this copy of the attempt belongs to.
func (a *Attempt) Owner() string {
	if a.Claim == "" && len(a.Claims) > 0 {
		return a.Claims[0]
	}
	return a.Claim
}

// Instance is a machine in the cloud.
type Instance struct {
	// ProviderID is aws:///<zone>/<instance id> on EC2.
	ProviderID string
	// State is the cloud's word: pending, running, shutting-down, stopped, …
	State        string
	InstanceType string
	Zone         string
	ZoneID       string
	CapacityType model.CapacityType
	ImageID      string
	// Hostname is the private DNS name, by which some nodes register.
	Hostname   string
	LaunchTime time.Time
	Tags       map[string]string
	// SubnetID, SecurityGroups, ReservationID and PlacementGroupID are what the
	// instance was launched into; empty when there is none or it is not known.
	SubnetID         string
	SecurityGroups   []string
	ReservationID    string
	PlacementGroupID string
	// Labels are those that the node carries for what it was launched into, such
	// as a reservation; Launch says them.
	Labels map[string]string
	// Claim and NodePool are read from the tags.
	Claim    string
	NodePool string
}
