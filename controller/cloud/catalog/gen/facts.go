package main

import (
	"slices"
	"strings"
)

// xenFamilies run on the Xen hypervisor; every other virtual type is Nitro.
// https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-nitro-instances.html
var xenFamilies = []string{
	"c1", "c3", "c4", "cr1", "d2", "f1", "g2", "g3", "g3s", "h1", "i2", "i3",
	"m1", "m2", "m3", "m4", "p2", "p3", "r3", "r4", "t1", "t2", "x1", "x1e",
}

// cards is the number of network cards of the types that have several. The
// source counts interfaces over all cards; pods get addresses from the first.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html#network-cards
var cards = map[string]int{
	"p4d.24xlarge": 4, "p4de.24xlarge": 4, "dl1.24xlarge": 4,
	"p5.48xlarge": 32, "p5e.48xlarge": 32, "p5en.48xlarge": 16,
	"trn1.32xlarge": 8, "trn1n.32xlarge": 16, "trn2.48xlarge": 16,
	"g6e.24xlarge": 2, "g6e.48xlarge": 4,
	"c6in.32xlarge": 2, "c6in.metal": 2, "m6in.32xlarge": 2, "m6in.metal": 2,
	"m6idn.32xlarge": 2, "m6idn.metal": 2, "r6in.32xlarge": 2, "r6in.metal": 2,
	"r6idn.32xlarge": 2, "r6idn.metal": 2,
	"u7in-16tb.224xlarge": 2, "u7in-24tb.224xlarge": 2, "u7in-32tb.224xlarge": 2,
	"hpc6id.32xlarge": 2, "hpc7a.12xlarge": 2, "hpc7a.24xlarge": 2,
	"hpc7a.48xlarge": 2, "hpc7a.96xlarge": 2,
}

// limits holds the number of interfaces and of addresses per interface, on the first
// card, where the source has none. Where AWS documents only a total, it holds the lower
// possible value: too few pods on a node is safe, too many is not.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/AvailableIpPerENI.html
var limits = map[string][2]int{
	"p2.xlarge": {4, 15}, "p2.8xlarge": {8, 30}, "p2.16xlarge": {8, 30},
	"g3s.xlarge": {4, 15}, "g3.4xlarge": {8, 30}, "g3.8xlarge": {8, 30}, "g3.16xlarge": {15, 50},
	"hpc6a.48xlarge": {2, 50}, "hpc6id.32xlarge": {2, 50},
	"hpc7a.12xlarge": {2, 50}, "hpc7a.24xlarge": {2, 50}, "hpc7a.48xlarge": {2, 50}, "hpc7a.96xlarge": {2, 50},
	"p4de.24xlarge": {15, 50}, "trn2.48xlarge": {2, 50},
}

func vpcLimits(in *instance) (enis, ips int) {
	if own, ok := limits[in.Name]; ok {
		return own[0], own[1]
	}
	if in.VPC == nil {
		return 0, 0
	}
	return in.VPC.ENIs / max(1, cards[in.Name]), in.VPC.IPs
}

// encrypts reports whether traffic between instances of the family is encrypted.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/data-protection.html#encryption-transit
func encrypts(family string) bool {
	if slices.Contains(encryptingFamilies, family) {
		return true
	}
	for _, prefix := range []string{"u-", "u7i", "u7in", "m6", "c6", "r6", "m7", "c7", "r7", "m8", "c8", "r8", "i7", "i8", "x8", "hpc"} {
		if strings.HasPrefix(family, prefix) {
			return !slices.Contains(plainFamilies, family)
		}
	}
	return false
}

var encryptingFamilies = []string{
	"c5a", "c5ad", "c5n", "m5dn", "m5n", "m5zn", "r5dn", "r5n",
	"d3", "d3en", "i3en", "i4g", "i4i", "im4gn", "is4gen", "x2idn", "x2iedn", "x2iezn",
	"dl1", "dl2q", "f2", "g4ad", "g4dn", "g5", "g6", "g6e", "gr6", "inf1", "inf2",
	"p3dn", "p4d", "p4de", "p5", "p5e", "p5en", "trn1", "trn1n", "trn2", "vt1",
}

// plainFamilies are the Graviton2 families that do not encrypt, although other families
// with the same prefix do.
var plainFamilies = []string{"m6g", "m6gd", "c6g", "c6gd", "r6g", "r6gd"}

// efaSizes are the sizes that support Elastic Fabric Adapters, by family.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-instance-types
var efaSizes = map[string][]string{
	"m5n": {"24xlarge", "metal"}, "m5dn": {"24xlarge", "metal"}, "m5zn": {"12xlarge", "metal"},
	"m6a": {"48xlarge", "metal"}, "m6i": {"32xlarge", "metal"}, "m6id": {"32xlarge", "metal"},
	"m6in": {"32xlarge", "metal"}, "m6idn": {"32xlarge", "metal"},
	"m7a": {"48xlarge", "metal-48xl"}, "m7g": {"16xlarge", "metal"}, "m7gd": {"16xlarge", "metal"}, "m7i": {"48xlarge", "metal-48xl"},
	"m8g": {"24xlarge", "48xlarge", "metal-24xl", "metal-48xl"}, "m8gd": {"24xlarge", "48xlarge", "metal-24xl", "metal-48xl"},
	"c5n": {"9xlarge", "18xlarge", "metal"}, "c6a": {"48xlarge", "metal"}, "c6gn": {"16xlarge"},
	"c6i": {"32xlarge", "metal"}, "c6id": {"32xlarge", "metal"}, "c6in": {"32xlarge", "metal"},
	"c7a": {"48xlarge", "metal-48xl"}, "c7g": {"16xlarge", "metal"}, "c7gd": {"16xlarge", "metal"},
	"c7gn": {"16xlarge", "metal"}, "c7i": {"48xlarge", "metal-48xl"},
	"c8g": {"24xlarge", "48xlarge", "metal-24xl", "metal-48xl"}, "c8gd": {"24xlarge", "48xlarge", "metal-24xl", "metal-48xl"},
	"r5n": {"24xlarge", "metal"}, "r5dn": {"24xlarge", "metal"}, "r6a": {"48xlarge", "metal"},
	"r6i": {"32xlarge", "metal"}, "r6id": {"32xlarge", "metal"}, "r6in": {"32xlarge", "metal"}, "r6idn": {"32xlarge", "metal"},
	"r7a": {"48xlarge", "metal-48xl"}, "r7g": {"16xlarge", "metal"}, "r7gd": {"16xlarge", "metal"},
	"r7i": {"48xlarge", "metal-48xl"}, "r7iz": {"32xlarge", "metal-32xl"},
	"r8g": {"24xlarge", "48xlarge", "metal-24xl", "metal-48xl"}, "r8gd": {"24xlarge", "48xlarge", "metal-24xl", "metal-48xl"},
	"x2idn": {"32xlarge", "metal"}, "x2iedn": {"32xlarge", "metal"}, "x2iezn": {"12xlarge", "metal"},
	"x8g":     {"24xlarge", "48xlarge", "metal-24xl", "metal-48xl"},
	"u7i-6tb": {"112xlarge"}, "u7i-8tb": {"112xlarge"}, "u7i-12tb": {"224xlarge"},
	"u7in-16tb": {"224xlarge"}, "u7in-24tb": {"224xlarge"}, "u7in-32tb": {"224xlarge"},
	"i3en": {"12xlarge", "24xlarge", "metal"}, "i4g": {"16xlarge"}, "i4i": {"32xlarge", "metal"},
	"i7i": {"24xlarge", "48xlarge", "metal-48xl"}, "i7ie": {"48xlarge", "metal-48xl"}, "i8g": {"48xlarge", "metal-48xl"},
	"im4gn": {"16xlarge"}, "dl1": {"24xlarge"}, "dl2q": {"24xlarge"}, "f2": {"48xlarge"},
	"g4dn": {"8xlarge", "12xlarge", "16xlarge", "metal"},
	"g5":   {"8xlarge", "12xlarge", "16xlarge", "24xlarge", "48xlarge"},
	"g6":   {"8xlarge", "12xlarge", "16xlarge", "24xlarge", "48xlarge"},
	"g6e":  {"8xlarge", "12xlarge", "16xlarge", "24xlarge", "48xlarge"}, "gr6": {"8xlarge"},
	"inf1": {"24xlarge"}, "p3dn": {"24xlarge"}, "p4d": {"24xlarge"}, "p4de": {"24xlarge"},
	"p5": {"48xlarge"}, "p5e": {"48xlarge"}, "p5en": {"48xlarge"},
	"trn1": {"32xlarge"}, "trn1n": {"32xlarge"}, "trn2": {"48xlarge"}, "vt1": {"24xlarge"},
	"hpc6a": {"48xlarge"}, "hpc6id": {"32xlarge"}, "hpc7a": {"12xlarge", "24xlarge", "48xlarge", "96xlarge"},
	"hpc7g": {"4xlarge", "8xlarge", "16xlarge"},
}

// efas returns the number of adapters: one per network card on types that support them,
// else 0.
func efas(name string) int {
	family, size, _ := strings.Cut(name, ".")
	if !slices.Contains(efaSizes[family], size) {
		return 0
	}
	return max(1, cards[name])
}
