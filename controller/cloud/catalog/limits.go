package catalog

import "strings"

// split returns the letters and the digits with which a family begins, as in the labels
// instance-category and instance-generation: m and 5 for m5d, u and 1 for u-6tb1, u and
// 7 for u7i-12tb.
func split(family string) (category, generation string) {
	i := 0
	for i < len(family) && family[i] >= 'a' && family[i] <= 'z' {
		i++
	}
	category, rest := family[:i], family[i:]
	if tb := strings.Index(rest, "tb"); tb >= 0 && strings.HasPrefix(rest, "-") {
		rest = rest[tb+len("tb"):]
	}
	j := 0
	for j < len(rest) && rest[j] >= '0' && rest[j] <= '9' {
		j++
	}
	return category, rest[:j]
}

// pods returns to how many pods the VPC CNI can give an address. One address of each
// interface is the interface's own, and two pods (the CNI and kube-proxy) use the
// host's network. With prefix delegation each slot holds 16 addresses; AWS recommends
// at most 110 pods below 30 vCPUs and 250 above.
// https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
func (t *Type) pods(opts *Options) int64 {
	slots := max(0, t.ENIs-opts.ReservedENIs-opts.noIPOnDefaultCard()) * max(0, t.IPv4PerENI-1)
	n := slots + 2
	switch {
	case t.ENIs == 0:
		n = 110 // kubelet's default, https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
	case opts.PrefixDelegation && t.VCPU < 30:
		n = min(slots*16+2, 110)
	case opts.PrefixDelegation:
		n = min(slots*16+2, 250)
	}
	if opts.MaxPods != nil {
		n = *opts.MaxPods
	}
	if opts.PodsPerCore > 0 {
		n = min(n, opts.PodsPerCore*t.VCPU)
	}
	return int64(max(0, n))
}
