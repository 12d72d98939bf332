package ec2

import (
	"cmp"
	"fmt"
	"net/netip"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/tag"
)

// subnet is a range of addresses in a zone.
type subnet struct {
	id, cidr string
	zone     market.Zone
	tags     tag.Set
	next     netip.Addr
	prefix   netip.Prefix
	used     int
	returned []netip.Addr // of ended instances, oldest first
}

// securityGroup is a firewall, of which only the name matters here.
type securityGroup struct {
	id, name, description string
	tags                  tag.Set
}

// network is a VPC with its subnets and security groups.
type network struct {
	account ids.Account
	market  *market.Market
	vpcID   string
	subnets []*subnet
	groups  []*securityGroup
}

// newNetwork makes a VPC of 10.0.0.0/16 with private subnets in each zone, one unless the
// limits say otherwise, and the cluster's security group. Further subnets of a zone are in
// 10.1.0.0/16 and so on.
func newNetwork(cfg *Config) *network {
	discovery := tag.Set{"karpenter.sh/discovery": cfg.Cluster, "kubernetes.io/cluster/" + cfg.Cluster: "owned"}
	s := &network{account: cfg.Account, market: cfg.Market, vpcID: cfg.IDs.Fixed("vpc", cfg.Account.Region)}
	for k := range max(1, cfg.Limits.SubnetsPerZone) {
		for i, z := range cfg.Market.Zones() {
			prefix := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(k), byte(i * 32), 0}), cmp.Or(cfg.Limits.SubnetPrefix, 19))
			name := z.Name
			if k > 0 {
				name = fmt.Sprintf("%s-%d", z.Name, k+1)
			}
			sn := &subnet{
				id: cfg.IDs.Fixed("subnet", name), cidr: prefix.String(), zone: z, prefix: prefix,
				tags: discovery.With("Name", fmt.Sprintf("%s-private-%s", cfg.Cluster, name)),
			}
			// AWS keeps the first four addresses and the last one.
			// https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
			sn.next = prefix.Addr().Next().Next().Next().Next()
			s.subnets = append(s.subnets, sn)
		}
	}
	s.groups = []*securityGroup{
		{id: cfg.IDs.Fixed("sg", "default"), name: "default", description: "default VPC security group", tags: tag.Set{}},
		{id: cfg.IDs.Fixed("sg", "nodes"), name: cfg.Cluster + "-node", description: "Nodes of the cluster", tags: discovery.With("Name", cfg.Cluster+"-node")},
		// EKS makes one for each cluster.
		// https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html
		{
			id: cfg.IDs.Fixed("sg", "cluster"), name: "eks-cluster-sg-" + cfg.Cluster, description: "EKS created security group",
			tags: tag.Set{"Name": "eks-cluster-sg-" + cfg.Cluster, "aws:eks:cluster-name": cfg.Cluster, "kubernetes.io/cluster/" + cfg.Cluster: "owned"},
		},
	}
	return s
}

func (sn *subnet) free() int { return 1<<(32-sn.prefix.Bits()) - 5 - sn.used }

// takeAddress hands out the subnet's addresses in order, and then those that came
// back.
func (sn *subnet) takeAddress() (netip.Addr, error) {
	if sn.free() <= 0 {
		return netip.Addr{}, sn.full()
	}
	sn.used++
	if addr := sn.next; sn.prefix.Contains(addr.Next()) { // the last one is AWS's
		sn.next = addr.Next()
		return addr, nil
	}
	addr := sn.returned[0]
	sn.returned = sn.returned[1:]
	return addr, nil
}

// giveBack takes an address back.
func (sn *subnet) giveBack(addr netip.Addr) {
	sn.used--
	sn.returned = append(sn.returned, addr)
}

// full is the error of a subnet without free addresses.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func (sn *subnet) full() error {
	return awserr.New("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", sn.id)
}

func (s *network) subnet(id string) *subnet {
	for _, sn := range s.subnets {
		if sn.id == id {
			return sn
		}
	}
	return nil
}

// defaultSubnet is the one that EC2 chooses for a request that names a zone
// only, in the default VPC.
func (s *network) defaultSubnet(z market.Zone) *subnet {
	for _, sn := range s.subnets {
		if sn.zone == z {
			return sn
		}
	}
	return nil
}

func (s *network) group(id string) *securityGroup {
	for _, g := range s.groups {
		if g.id == id {
			return g
		}
	}
	return nil
}
