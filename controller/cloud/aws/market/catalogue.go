package market

import (
	"encoding/json"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/bootstrap"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Catalogue makes the catalogues of EC2NodeClasses: what a class can launch in the zones
// of its subnets, on the architectures of its images, with the resources that its
// kubelet settings leave to pods.
type Catalogue struct {
	Market   *Market
	Memories *Memories
	// Discounts make billed prices of list prices.
	Discounts []Discount
	// ReservedENIs are interfaces per instance that pods cannot use.
	ReservedENIs int
	// PrefixDelegation says that the VPC CNI gives each slot of an interface 16 addresses.
	PrefixDelegation bool
	// MemoryOverhead is the share of memory that the hypervisor keeps; nil is the
	// embedded catalogue's default.
	MemoryOverhead *float64
	// Strategy is the kind of the placement group that the class's nodes are launched into,
	// "" for none and while it is not known. Nil knows of none.
	Strategy func(class *awsv1.EC2NodeClass) string

	mu   sync.Mutex
	kept kept
	// zoneIDs are the IDs of the zones that classes have subnets in, by name.
	zoneIDs map[string]string
}

// Of is the class's catalogue with every offering available, and without
// reservations. It asks nothing of AWS. The answer is shared; callers do not change it.
func (c *Catalogue) Of(class *awsv1.EC2NodeClass) (model.Catalog, error) {
	on := c.Market.Offer()
	opts, err := catalog.ForClass(class)
	if err != nil {
		return model.Catalog{}, client.Refuse(provider.ClassNotReady, "catalogue of EC2NodeClass %s: %w", class.Name, err)
	}
	if c.Strategy != nil {
		opts.Needs.PlacementStrategy = c.Strategy(class)
	}
	learned, version := c.Memories.learned()
	key, err := json.Marshal([]any{
		on.Version, version, class.Status.Subnets, class.Status.AMIs, class.Spec.Kubelet,
		class.Spec.BlockDeviceMappings, class.Spec.InstanceStorePolicy, class.AMIFamily(),
		opts.Needs, opts.MaxEFAs,
	})
	if err != nil {
		return model.Catalog{}, client.Refuse(provider.Invalid, "catalogue of EC2NodeClass %s: %w", class.Name, err)
	}
	c.mu.Lock()
	out, ok := c.kept.find(class.Name, string(key))
	c.mu.Unlock()
	if ok {
		out.NodeClass = class.Name
		return out, nil
	}
	out = c.lower(&on, lowering{class: class, opts: opts, learned: learned})
	c.mu.Lock()
	c.kept.store(class.Name, string(key), out)
	c.mu.Unlock()
	return out, nil
}

// lowering is a class, what it changes of the capacity of nodes, and what nodes reported
// of their memory.
type lowering struct {
	class   *awsv1.EC2NodeClass
	opts    catalog.Options
	learned map[bootedAs]int64
}

func (c *Catalogue) lower(on *Offer, in lowering) model.Catalog {
	zoneIDs := map[string]string{}
	zones := []string{}
	for _, s := range in.class.Status.Subnets {
		if !slices.Contains(zones, s.Zone) {
			zones = append(zones, s.Zone)
		}
		if s.ZoneID != "" {
			zoneIDs[s.Zone] = s.ZoneID
			c.learnZone(s.Zone, s.ZoneID)
		}
	}
	sales := slices.Clone(on.Sales)
	for i := range sales {
		if on.ByID {
			sales[i] = inAccount(sales[i], zoneIDs)
		}
		sales[i].ZoneIDs = zoneIDs
	}
	opts := in.opts
	opts.Region, opts.Zones = c.Market.Region, zones
	opts.ReservedENIs, opts.MemoryOverheadPercent = c.ReservedENIs, c.MemoryOverhead
	opts.PrefixDelegation = c.PrefixDelegation
	_, build, windows := bootstrap.WindowsRelease(in.class.AMIFamily())
	if windows {
		opts.OS = string(corev1.Windows)
		if opts.MaxPods == nil {
			opts.MaxPods = new(windowsPods)
		}
	}
	out := catalog.Lower(on.Types, sales, opts)
	billed(out.Types, c.Discounts)
	if windows {
		asWindows(out.Types, on.Types, build)
	}
	kept := out.Types[:0]
	for i := range out.Types {
		t := &out.Types[i]
		image := resolve.ImageFor(in.class.Status.AMIs, t.Labels)
		if image == nil {
			continue
		}
		if reported, ok := in.learned[bootedAs{instanceType: t.Name, image: image.ID}]; ok {
			correct(t, reported, opts.Reserved.EvictionShare[model.Memory])
		}
		kept = append(kept, *t)
	}
	out.Types = kept
	out.Generation, out.Provisional = catalog.Generation(&out), on.Provisional
	return out
}

// inAccount is a sale of the embedded catalogue with the account's names of zones, by
// the IDs of those that the class has subnets in. Without IDs it stays as it is.
func inAccount(sale catalog.Sale, zoneIDs map[string]string) catalog.Sale {
	if len(sale.ZoneIDs) == 0 || len(zoneIDs) == 0 {
		return sale
	}
	nameOf := make(map[string]string, len(zoneIDs))
	for name, id := range zoneIDs {
		nameOf[id] = name
	}
	out := sale
	out.Zones, out.Spot = nil, map[string]model.Price{}
	for _, embedded := range sale.Zones {
		name := nameOf[sale.ZoneIDs[embedded]]
		if name == "" {
			continue
		}
		out.Zones = append(out.Zones, name)
		if price, ok := sale.Spot[embedded]; ok {
			out.Spot[name] = price
		}
	}
	return out
}

// Forget drops the catalogue of a class that is gone.
func (c *Catalogue) Forget(class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.forget(class)
}

// ZoneID is the ID of a zone, empty when no class has a subnet there.
func (c *Catalogue) ZoneID(zone string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.zoneIDs[zone]
}

func (c *Catalogue) learnZone(zone, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.zoneIDs == nil {
		c.zoneIDs = map[string]string{}
	}
	c.zoneIDs[zone] = id
}

// MaxPods is how many pods the nodes of a type are told to take, 0 for what they find out
// themselves. The images know what the interfaces of each type carry. They do not know that
// the CNI delegates prefixes, that some interfaces are reserved or given to EFA, that the class limits pods
// by core where the image has no such setting, or what the class's own user data says
// otherwise. What kubelet.maxPods of the class says goes before, and Windows nodes have no
// prefixes of this kind.
// https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html
func (c *Catalogue) MaxPods(class *awsv1.EC2NodeClass, t *model.InstanceType) int64 {
	k, family := class.Spec.Kubelet, class.AMIFamily()
	if k != nil && k.PodsPerCore != nil && family == awsv1.AMIFamilyBottlerocket {
		return t.Capacity[model.PodSlots]
	}
	_, _, windows := bootstrap.WindowsRelease(family)
	efaOnly := slices.ContainsFunc(class.Spec.NetworkInterfaces, func(n awsv1.NetworkInterface) bool { return n.InterfaceType == awsv1.InterfaceTypeEFAOnly })
	differs := c.PrefixDelegation || c.ReservedENIs > 0 || efaOnly || bootstrap.SetsMaxPods(class)
	if !differs || k != nil && k.MaxPods != nil || windows {
		return 0
	}
	return t.Capacity[model.PodSlots]
}
