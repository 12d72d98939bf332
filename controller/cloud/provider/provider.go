// Package provider defines the interface between the controller and a cloud: the calls
// that the controller makes, with values of controller/core/model, and the kinds of
// errors that they return.
//
// It contains no implementation: provider/aws calls EC2, and provider/sim simulates a
// cloud.
package provider

import (
	"context"
	"encoding/json"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Provider launches and ends instances. It is safe for concurrent use.
type Provider interface {
	// Catalog returns what the node class can launch now, with current prices.
	// Offerings recently found sold out are marked as unavailable.
	Catalog(ctx context.Context, nodeClass string) (model.Catalog, error)
	// Prepare turns a spec into the exact request of one launch attempt, and creates
	// what the request refers to (launch templates). It starts no instance. The caller
	// has to store the attempt before it launches it.
	Prepare(ctx context.Context, spec LaunchSpec) (Attempt, error)
	// Launch carries an attempt out. Launching the same attempt twice starts one
	// instance: after a timeout, call Launch again with the same attempt. After an
	// error whose kind is Definitive a new attempt is needed.
	Launch(ctx context.Context, attempt Attempt) (Instance, error)
	// Get returns an instance by provider ID. The error has kind NotFound when the
	// instance is unknown or terminated.
	Get(ctx context.Context, providerID string) (Instance, error)
	// List returns every instance of this cluster that was launched for a NodePool and
	// is not terminated.
	List(ctx context.Context) ([]Instance, error)
	// Terminate terminates an instance. The error has kind NotFound when it is gone
	// already.
	Terminate(ctx context.Context, providerID string) error
	// Tag sets tags on an instance, replacing equal keys.
	Tag(ctx context.Context, providerID string, tags map[string]string) error
}

// LaunchSpec is one node to launch.
type LaunchSpec struct {
	Claim     string
	NodePool  string
	NodeClass string
	// Ordinal numbers the attempts of a claim, from 0, so that each has another token.
	Ordinal int
	// Group is the group of claims that are launched with the same request. The zero
	// value means that it is not known.
	Group Group
	// Options are the offerings to launch, best first. A request has a single capacity
	// type: the provider uses the options before the first one of another type.
	Options []model.Option
	// Labels, Taints and StartupTaints are set on the node through its user data.
	Labels        map[string]string
	Taints        []model.Taint
	StartupTaints []model.Taint
	// Requests are what the planned pods and DaemonSets request of the node.
	Requests model.Resources
	// Tags are added to those of the node class.
	Tags map[string]string
}

// Attempt is a launch request that can be stored. Repeating it is always safe.
type Attempt struct {
	Token string `json:"token"`
	// Ordinal numbers the attempts of the claim.
	Ordinal int `json:"ordinal"`
	// Claim is the claim on which this copy of the attempt is stored. When empty, it is
	// the only one of Claims.
	Claim string `json:"claim,omitempty"`
	// Claims are the claims for which the request launches instances, sorted. All of
	// them store the same token and request, and the request is sent only once each has
	// stored it.
	Claims []string `json:"claims"`
	// Request is the provider's exact request, opaque to callers.
	Request json.RawMessage `json:"request,omitempty"`
	// Annotations are written on the claim together with the attempt; Drifted reads
	// them.
	Annotations map[string]string `json:"-"`
	// Labels are written on the claim too, and from there on the node.
	Labels map[string]string `json:"-"`
}

// Owner returns the claim to which this copy of the attempt belongs.
func (a *Attempt) Owner() string {
	if a.Claim == "" && len(a.Claims) > 0 {
		return a.Claims[0]
	}
	return a.Claim
}

// Instance is a machine in the cloud.
//
// Size: one field for each fact that a provider tells of an instance.
type Instance struct {
	// ProviderID is aws:///<zone>/<instance id> on EC2.
	ProviderID string
	// State is the state as the cloud names it: pending, running, shutting-down,
	// stopped, …
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
	// SubnetID, SecurityGroups, ReservationID and PlacementGroupID are where the
	// instance was launched; empty when there is none or it is not known.
	SubnetID         string
	SecurityGroups   []string
	ReservationID    string
	PlacementGroupID string
	// Labels are the node's labels that depend on where the instance was launched, such
	// as on a reservation. Only Launch sets them.
	Labels map[string]string
	// Claim and NodePool are read from the tags.
	Claim    string
	NodePool string
}
