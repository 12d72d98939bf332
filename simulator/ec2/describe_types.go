package ec2

import (
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
)

type typesRequest struct {
	listing.Paging
	Filters     []listing.Filter `query:"Filter"`
	Types       []string         `query:"InstanceType"`
	Unsupported bool             `query:"IncludeUnsupportedInRegion"`
}

// describeTypes lists instance types, in pages of 100 unless told otherwise.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
func (s *offerings) describeTypes(_ *operation.Call, in *typesRequest) (any, error) {
	names := s.market.Names()
	if len(in.Types) > 0 {
		if len(in.Types) > 100 {
			return nil, awserr.New(awserr.InvalidValue, "At most 100 instance types can be named, not %d", len(in.Types))
		}
		if in.MaxResults != nil {
			return nil, awserr.New(awserr.InvalidCombination, "The parameter instanceTypes cannot be used with the parameter maxResults")
		}
		var unknown []string
		for _, name := range in.Types {
			if s.market.Type(name) == nil {
				unknown = append(unknown, name)
			}
		}
		if len(unknown) > 0 {
			return nil, awserr.New("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", strings.Join(unknown, ", "))
		}
		names = slices.Clone(in.Types)
		slices.Sort(names)
	}
	all := make([]*typeXML, 0, len(names))
	for _, name := range names {
		all = append(all, s.describeType(s.market.Type(name)))
	}
	found, err := listing.Choose(all, in.Filters, listing.By[*typeXML]{Fields: typeFields()})
	if err != nil {
		return nil, err
	}
	pages := in.Paging
	if pages.MaxResults == nil {
		hundred := 100
		pages.MaxResults = &hundred
	}
	items, next, err := listing.Page(found, pages, 5, 100)
	return struct {
		Types     []*typeXML `xml:"instanceTypeSet>item"`
		NextToken string     `xml:"nextToken,omitempty"`
	}{items, next}, err
}

func typeFields() listing.Fields[*typeXML] {
	yes := strconv.FormatBool
	return listing.Fields[*typeXML]{
		"bare-metal":                            listing.Is(func(t *typeXML) string { return yes(t.BareMetal) }),
		"burstable-performance-supported":       listing.Is(func(t *typeXML) string { return yes(t.Burstable) }),
		"current-generation":                    listing.Is(func(t *typeXML) string { return yes(t.Current) }),
		"hypervisor":                            listing.Is(func(t *typeXML) string { return t.Hypervisor }),
		"instance-storage-supported":            listing.Is(func(t *typeXML) string { return yes(t.HasStorage) }),
		"instance-type":                         listing.Is(func(t *typeXML) string { return t.Name }),
		"memory-info.size-in-mib":               listing.Is(func(t *typeXML) string { return strconv.FormatInt(t.Memory.MiB, 10) }),
		"network-info.efa-supported":            listing.Is(func(t *typeXML) string { return yes(t.Network.EFAOK) }),
		"processor-info.supported-architecture": func(t *typeXML) []string { return t.Processor.Architectures },
		"supported-root-device-type":            func(t *typeXML) []string { return t.RootDevices },
		"supported-usage-class":                 func(t *typeXML) []string { return t.Usage },
		"supported-virtualization-type":         func(t *typeXML) []string { return t.Virtualization },
		"vcpu-info.default-vcpus":               listing.Is(func(t *typeXML) string { return strconv.Itoa(t.VCPU.VCPUs) }),
	}
}
