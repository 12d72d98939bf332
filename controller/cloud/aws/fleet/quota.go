package fleet

import (
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// vcpuQuota names the quota on vCPUs that a type counts against, with its code in
// Service Quotas: what a person has to ask AWS to raise. Quotas go by the letters
// that a family begins with. There are none for HPC and high memory on spot. Spot
// of P is one quota; accounts in which AWS has not joined them have one of its
// own for P5, L-C4BD4855. The codes stand in the links of the page of quotas.
// https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html#ec2-on-demand-instances-limits
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html
func vcpuQuota(instanceType string, ct model.CapacityType) (name, code string) {
	family, _, _ := strings.Cut(instanceType, ".")
	for i := range vcpuQuotas() {
		q := &vcpuQuotas()[i]
		if !slices.ContainsFunc(q.prefixes, func(p string) bool { return strings.HasPrefix(family, p) }) {
			continue
		}
		if ct != model.Spot {
			return "Running On-Demand " + q.class + " instances", q.onDemand
		}
		if q.spot == "" {
			return "", ""
		}
		return "All " + q.class + " Spot Instance Requests", q.spot
	}
	return "", ""
}

type vcpuQuotaClass struct {
	prefixes              []string
	class, onDemand, spot string
}

// vcpuQuotas are in the order in which prefixes are tried: dl before d, hpc
// before h.
func vcpuQuotas() []vcpuQuotaClass {
	return []vcpuQuotaClass{
		{[]string{"dl"}, "DL", "L-6E869C2A", "L-85EED4F7"},
		{[]string{"hpc"}, "HPC", "L-F7808C92", ""},
		{[]string{"inf"}, "Inf", "L-1945791B", "L-B5D1601B"},
		{[]string{"trn"}, "Trn", "L-2C3B7624", "L-6B0D517C"},
		{[]string{"u-", "u7"}, "High Memory", "L-43DA4232", ""},
		{[]string{"g", "vt"}, "G and VT", "L-DB2E81BA", "L-3819A6DF"},
		{[]string{"p"}, "P", "L-417A185B", "L-7212CCBC"},
		{[]string{"f"}, "F", "L-74FC7D96", "L-88CF9481"},
		{[]string{"x"}, "X", "L-7295265B", "L-E3A00192"},
		{[]string{"a", "c", "d", "h", "i", "m", "r", "t", "z"}, "Standard (A, C, D, H, I, M, R, T, Z)", "L-1216C47A", "L-34B43A08"},
	}
}
