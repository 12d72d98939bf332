package model

// CapacityType is how an instance is bought: karpenter.sh/capacity-type.
type CapacityType string

// The capacity types of Karpenter.
const (
	Spot     CapacityType = "spot"
	OnDemand CapacityType = "on-demand"
	Reserved CapacityType = "reserved"
)

// Catalog is what one node class can launch. Pools that share a node class
// share a catalogue.
type Catalog struct {
	// NodeClass is the name of the EC2NodeClass the catalogue was made for.
	NodeClass string `json:"nodeClass"`
	Region    string `json:"region,omitempty"`
	// NodeCost is what every node of the class costs per hour besides its
	// instance: its volumes and its public IPv4 address.
	NodeCost Price `json:"nodeCost,omitempty"`
	// Away are zones that the cluster is shifted away from: nothing is launched
	// there, and nodes there are not disrupted by choice.
	Away []string `json:"away,omitempty"`
	// Generation changes whenever the contents do; string ids handed to
	// policies are stable within one generation.
	Generation uint64         `json:"generation"`
	Types      []InstanceType `json:"types"`
}

// InstanceType is a kind of machine with the places where it can be bought.
type InstanceType struct {
	Name string `json:"name"`
	Arch string `json:"arch"`
	OS   string `json:"os"`
	// Labels are those that every node of the type carries, except zone and
	// capacity type, which are the offering's.
	Labels   map[string]string `json:"labels"`
	Capacity Resources         `json:"capacity"`
	// Allocatable is what kubelet leaves for pods, DaemonSets included.
	Allocatable Resources  `json:"allocatable"`
	Offerings   []Offering `json:"offerings"`
}

// Offering is a zone and a capacity type in which an instance type is sold.
type Offering struct {
	Zone         string       `json:"zone"`
	ZoneID       string       `json:"zoneID,omitempty"`
	CapacityType CapacityType `json:"capacityType"`
	// Price is the billed price of the instance alone.
	Price Price `json:"price"`
	// List is the price before discounts, 0 when there are none.
	List Price `json:"list,omitempty"`
	// Interruption is the share of spot instances interrupted per month, 0 to 1.
	Interruption float64 `json:"interruption,omitempty"`
	Available    bool    `json:"available"`
	// Reservation is what a reserved offering draws on; nil for others.
	Reservation *Reservation `json:"reservation,omitempty"`
}

// Reservation is capacity that is paid for whether it is used or not. Where an
// offering draws on several, what they differ in is empty.
type Reservation struct {
	// Free is how many more instances it holds.
	Free int `json:"free"`
	// ID, Type (default or capacity-block) and Interruptible (true or false) are
	// the values of the labels that its nodes carry.
	ID            string `json:"id,omitempty"`
	Type          string `json:"type,omitempty"`
	Interruptible string `json:"interruptible,omitempty"`
}

// Label is the value of a label that tells reservations apart, empty for none;
// ours is false for other labels.
func (o *Offering) Label(key string) (value string, ours bool) {
	r := o.Reservation
	if r == nil {
		r = &Reservation{}
	}
	switch key {
	case "karpenter.k8s.aws/capacity-reservation-id":
		return r.ID, true
	case "karpenter.k8s.aws/capacity-reservation-type":
		return r.Type, true
	case "karpenter.k8s.aws/capacity-reservation-interruptible":
		return r.Interruptible, true
	}
	return "", false
}

// Option is one way to launch a planned node. Options are kept by value, so
// that a plan can be read without its catalogue.
type Option struct {
	InstanceType string       `json:"instanceType"`
	Zone         string       `json:"zone"`
	CapacityType CapacityType `json:"capacityType"`
	// Price is billed, Effective is the cost after the rank policies in USD/hour.
	Price     Price   `json:"price"`
	Effective float64 `json:"effectivePrice"`
}
