package sim

import (
	"fmt"
	"net/netip"
)

type subnet struct {
	id, cidr string
	zone     zone
	tags     tags
	next     netip.Addr
	prefix   netip.Prefix
	used     int
}

type securityGroup struct {
	id, name, description string
	tags                  tags
}

// addNetwork makes a VPC of 10.0.0.0/16 with one private subnet for each zone
// and the cluster's security group.
func (st *state) addNetwork(cfg *Config) {
	discovery := tags{"karpenter.sh/discovery": cfg.Cluster, "kubernetes.io/cluster/" + cfg.Cluster: "owned"}
	st.vpcID = fixedID(cfg.Seed, "vpc", cfg.Region)
	for i, z := range st.zones {
		prefix := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i * 32), 0}), 19)
		sn := &subnet{
			id: fixedID(cfg.Seed, "subnet", z.name), cidr: prefix.String(), zone: z, prefix: prefix,
			tags: discovery.with("Name", fmt.Sprintf("%s-private-%s", cfg.Cluster, z.name)),
		}
		// AWS keeps the first four addresses and the last one.
		// https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
		sn.next = prefix.Addr().Next().Next().Next().Next()
		st.subnets = append(st.subnets, sn)
	}
	st.groups = []*securityGroup{
		{id: fixedID(cfg.Seed, "sg", "default"), name: "default", description: "default VPC security group", tags: tags{}},
		{id: fixedID(cfg.Seed, "sg", "nodes"), name: cfg.Cluster + "-node", description: "Nodes of the cluster", tags: discovery.with("Name", cfg.Cluster+"-node")},
	}
}

func (sn *subnet) free() int { return 1<<(32-sn.prefix.Bits()) - 5 - sn.used }

// takeAddress hands out the subnet's addresses in order.
func (sn *subnet) takeAddress() (netip.Addr, error) {
	if sn.free() <= 0 || !sn.prefix.Contains(sn.next.Next()) {
		return netip.Addr{}, failf("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", sn.id)
	}
	addr := sn.next
	sn.next = addr.Next()
	sn.used++
	return addr, nil
}

func (st *state) subnet(id string) *subnet {
	for _, sn := range st.subnets {
		if sn.id == id {
			return sn
		}
	}
	return nil
}

// defaultSubnet is the one that EC2 chooses for a request that names a zone
// only, in the default VPC.
func (st *state) defaultSubnet(z zone) *subnet {
	for _, sn := range st.subnets {
		if sn.zone == z {
			return sn
		}
	}
	return nil
}

func (st *state) group(id string) *securityGroup {
	for _, g := range st.groups {
		if g.id == id {
			return g
		}
	}
	return nil
}
