package model

// CapacityType is how an instance is bought: karpenter.sh/capacity-type.
type CapacityType string

// The capacity types of Karpenter.
const (
	Spot     CapacityType = "spot"
	OnDemand CapacityType = "on-demand"
	Reserved CapacityType = "reserved"
)

// Catalog is what one node class can launch. Pools with the same node class share a
// catalogue.
type Catalog struct {
	// NodeClass is the name of the EC2NodeClass the catalogue was made for.
	NodeClass string `json:"nodeClass"`
	Region    string `json:"region,omitempty"`
	// NodeCost is what every node of the class costs per hour besides its
	// instance: its volumes and its public IPv4 address.
	NodeCost Price `json:"nodeCost,omitempty"`
	// Away are the zones that a zonal shift moves the cluster away from. Nothing is
	// launched there, and nodes there are not disrupted voluntarily.
	Away []string `json:"away,omitempty"`
	// Provisional says that the cloud has not said yet what it sells where and for how
	// much, and that an earlier list serves. Pods are placed with it; no node is replaced
	// for a price in it, and none ends because its type is missing from it.
	Provisional bool `json:"provisional,omitempty"`
	// Generation changes whenever the contents do. String ids passed to policies are
	// stable within one generation.
	Generation uint64         `json:"generation"`
	Types      []InstanceType `json:"types"`
}

// InstanceType is an EC2 instance type with its offerings.
type InstanceType struct {
	Name string `json:"name"`
	Arch string `json:"arch"`
	OS   string `json:"os"`
	// Labels are the labels of every node of the type, except zone and capacity
	// type, which the offering sets.
	Labels   map[string]string `json:"labels"`
	Capacity Resources         `json:"capacity"`
	// Allocatable is what the kubelet leaves for pods, those of DaemonSets included.
	Allocatable Resources  `json:"allocatable"`
	Offerings   []Offering `json:"offerings"`
}

// Offering is a zone and a capacity type in which an instance type is offered.
type Offering struct {
	Zone         string       `json:"zone"`
	ZoneID       string       `json:"zoneID,omitempty"`
	CapacityType CapacityType `json:"capacityType"`
	// Price is the billed price of the instance, without volumes and address.
	Price Price `json:"price"`
	// List is the price before discounts, 0 when there are none.
	List Price `json:"list,omitempty"`
	// Estimated says that no price list has the price, and that it was derived from those
	// of other types or regions.
	Estimated bool `json:"estimated,omitempty"`
	// Interruption is the fraction of spot instances interrupted per month, 0 to 1.
	Interruption float64 `json:"interruption,omitempty"`
	Available    bool    `json:"available"`
	// Reservation is the capacity that a reserved offering uses; nil for others.
	Reservation *Reservation `json:"reservation,omitempty"`
}

// Reservation is capacity that is paid for whether it is used or not. When an
// offering uses several reservations, the fields in which they differ are empty.
type Reservation struct {
	// Free is the number of instances that can still be launched in it.
	Free int `json:"free"`
	// ID, Type (default or capacity-block) and Interruptible (true or false) are
	// the values of the labels that its nodes carry.
	ID            string `json:"id,omitempty"`
	Type          string `json:"type,omitempty"`
	Interruptible string `json:"interruptible,omitempty"`
}

// Label returns the value of a label that distinguishes reservations, empty for
// none. ours is false for other labels.
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

// Option is one way to launch a planned node. It holds values instead of indexes, so
// that a plan can be read without its catalogue.
type Option struct {
	InstanceType string       `json:"instanceType"`
	Zone         string       `json:"zone"`
	CapacityType CapacityType `json:"capacityType"`
	// Price is the billed price. Effective is the cost after the rank policies, in
	// USD/hour.
	Price     Price   `json:"price"`
	Effective float64 `json:"effectivePrice"`
}
