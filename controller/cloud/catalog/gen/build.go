package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// build converts the source to the records that are written, sorted by type name. china
// are the prices that the source lacks.
func build(source []instance, china prices) ([]typeRecord, map[string]*regionRecord, error) {
	slices.SortFunc(source, func(a, b instance) int { return strings.Compare(a.Name, b.Name) })
	base := baselines(source)
	var types []typeRecord
	sales := map[string]*regionRecord{}
	for _, region := range regionsOf(source, china) {
		sales[region] = &regionRecord{Region: region, Zones: zoneIDs(source, region)}
	}
	for i := range source {
		in := &source[i]
		record, ok := facts(in, base)
		if !ok {
			continue
		}
		sold := false
		for region, record := range sales {
			sale, ok, err := saleOf(in, record)
			if usd := china[region][in.Name]; usd > 0 {
				sale, ok = saleRecord{Type: in.Name, OnDemand: int64(math.Round(usd * 1e6))}, true
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s in %s: %w", in.Name, region, err)
			}
			if ok {
				record.Sales = append(record.Sales, sale)
				sold = true
			}
		}
		if sold {
			types = append(types, record)
		}
	}
	return types, sales, nil
}

// facts returns the record of a type. It is false for types that cannot be Kubernetes
// nodes: Macs, paravirtual types without hardware virtualization, and types without a
// known VPC limit.
func facts(in *instance, base map[string]float64) (typeRecord, bool) {
	arch := ""
	switch {
	case slices.Contains(in.Arch, "x86_64"):
		arch = "amd64"
	case slices.Contains(in.Arch, "arm64"):
		arch = "arm64"
	}
	if arch == "" || len(in.Virt) == 1 && in.Virt[0] == "PV" {
		return typeRecord{}, false
	}
	family, size, _ := strings.Cut(in.Name, ".")
	enis, ips := vpcLimits(in)
	if enis == 0 || ips == 0 {
		return typeRecord{}, false
	}
	r := typeRecord{
		Name: in.Name, Arch: arch, VCPU: in.VCPU, Memory: int64(in.Memory * 1024),
		Metal: strings.HasPrefix(size, "metal"), ENIs: enis, IPs: ips,
		EBS: int(in.EBSMax), Maker: cpuMaker(in.CPU), Clock: clockMHz(in),
		Encrypt: encrypts(family), EFAs: efas(in.Name),
	}
	switch {
	case r.Metal:
	case slices.Contains(xenFamilies, family):
		r.Hyper = "xen"
	default:
		r.Hyper = "nitro"
	}
	if in.Storage != nil && in.Storage.NVMe {
		r.NVMe = int(math.Round(in.Storage.Size * float64(max(1, in.Storage.Devices))))
	}
	r.Network = network(in, base)
	r.GPUs, r.Accels = devices(in)
	return r, true
}

func cpuMaker(cpu string) string {
	switch {
	case strings.Contains(cpu, "Graviton"):
		return "aws"
	case strings.Contains(cpu, "AMD"):
		return "amd"
	case strings.Contains(cpu, "Intel"):
		return "intel"
	}
	return ""
}

func clockMHz(in *instance) int {
	figure := strings.TrimSuffix(strings.TrimPrefix(in.Clock, "Up to "), " GHz")
	ghz, err := strconv.ParseFloat(figure, 64)
	if err != nil {
		if strings.Contains(in.CPU, "Graviton2") {
			return 2500
		}
		return 0
	}
	return int(math.Round(ghz * 1000))
}

// fixedMbps parses "25 Gigabit" and "4x 100 Gigabit" to Mbit/s. "Up to 10 Gigabit" is a
// burst rate and gives 0.
func fixedMbps(performance string) float64 {
	figure, ok := strings.CutSuffix(performance, " Gigabit")
	if !ok || strings.HasPrefix(figure, "Up to") {
		return 0
	}
	cards := 1.0
	if n, each, found := strings.Cut(figure, "x "); found {
		cards, _ = strconv.ParseFloat(n, 64)
		figure = each
	}
	gbps, err := strconv.ParseFloat(figure, 64)
	if err != nil {
		return 0
	}
	return cards * gbps * 1000
}

// baselines returns the Mbit/s per vCPU of each family's smallest size with a fixed
// bandwidth. AWS gives the burstable sizes of a family their share of it (c7g.2xlarge:
// 15 Gbit/s of the 8xlarge / 4 = 3.75).
func baselines(source []instance) map[string]float64 {
	smallest, out := map[string]int{}, map[string]float64{}
	for i := range source {
		in := &source[i]
		family, _, _ := strings.Cut(in.Name, ".")
		mbps := fixedMbps(in.Network)
		if n, seen := smallest[family]; mbps > 0 && in.VCPU > 0 && (!seen || in.VCPU < n) {
			smallest[family] = in.VCPU
			out[family] = mbps / float64(in.VCPU)
		}
	}
	return out
}

func network(in *instance, base map[string]float64) int {
	if mbps := fixedMbps(in.Network); mbps > 0 {
		return int(mbps)
	}
	if !strings.HasPrefix(in.Network, "Up to ") {
		return 0
	}
	family, _, _ := strings.Cut(in.Name, ".")
	return int(base[family] * float64(in.VCPU))
}

func zoneIDs(source []instance, region string) []string {
	seen := map[string]bool{}
	for i := range source {
		for _, id := range source[i].Zones[region] {
			seen[id] = true
		}
	}
	out := make([]string, 0, len(seen))
	for id := range seen {
		out = append(out, id)
	}
	sort.Strings(out)
	return out
}

var interruptions = map[string]int{"<5%": 1, "5-10%": 2, "10-15%": 3, "15-20%": 4, ">20%": 5}

func saleOf(in *instance, region *regionRecord) (saleRecord, bool, error) {
	raw, ok := in.Pricing[region.Region]["linux"]
	if !ok {
		return saleRecord{}, false, nil
	}
	var p price
	if err := json.Unmarshal(raw, &p); err != nil {
		return saleRecord{}, false, err
	}
	onDemand, err := micro(p.OnDemand)
	if err != nil {
		return saleRecord{}, false, err
	}
	zones := slices.Clone(in.Zones[region.Region])
	// Of some regions the source tells prices only. Where it tells zones, a type without
	// any is not sold.
	if onDemand <= 0 || len(zones) == 0 && len(region.Zones) > 0 {
		return saleRecord{}, false, nil
	}
	if len(zones) == 0 {
		return saleRecord{Type: in.Name, OnDemand: onDemand}, true, nil
	}
	sort.Strings(zones)
	sale := saleRecord{Type: in.Name, OnDemand: onDemand, Interrupt: interruptions[p.Interrupt]}
	for _, id := range zones {
		sale.Zones = append(sale.Zones, slices.Index(region.Zones, id))
	}
	if sale.Spot, err = deal(in.Name, region.Region, p.Spot, len(zones)); err != nil {
		return saleRecord{}, false, err
	}
	return sale, true, nil
}

// deal assigns the spot prices to zones. The source lists a region's spot prices by
// amount, without their zones. So that no zone is the cheapest for every type, a hash
// of family and region selects the first zone.
func deal(name, region string, spot []string, zones int) ([]int64, error) {
	if len(spot) == 0 {
		return nil, nil
	}
	family, _, _ := strings.Cut(name, ".")
	hash := fnv.New32a()
	hash.Write([]byte(family + "/" + region))
	first := int(hash.Sum32() % uint32(zones))
	prices := make([]int64, 0, len(spot))
	for _, s := range spot {
		p, err := micro(s)
		if err != nil {
			return nil, err
		}
		prices = append(prices, p)
	}
	slices.Sort(prices)
	out := make([]int64, zones)
	for i, p := range prices {
		if i < zones {
			out[(first+i)%zones] = p
		}
	}
	return out, nil
}

func micro(usd string) (int64, error) {
	if usd == "" {
		return 0, nil
	}
	f, err := strconv.ParseFloat(usd, 64)
	if err != nil || f < 0 || f > 1e6 {
		return 0, fmt.Errorf("price %q: not an amount", usd)
	}
	return int64(math.Round(f * 1e6)), nil
}
