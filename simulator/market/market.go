package market

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// Zone is an availability zone by name (us-west-2a) and ID (usw2-az1).
type Zone struct{ Name, ID string }

// sale is what a type costs now, where.
type sale struct {
	onDemand model.Price
	spot     map[string]model.Price
	zones    map[string]bool
	risk     float64
}

// Market is the types, zones, prices and capacity pools of one region. It is not
// safe for concurrent use.
type Market struct {
	region string
	types  map[string]*catalog.Type
	names  []string // of types, sorted
	sales  map[string]*sale
	zones  []Zone // by name
	free   map[model.Option]int
	since  time.Time
}

// New is a market of the types that exist and where they are sold; the zones are
// those that the sales name. Its prices are in force since now.
func New(region string, types []catalog.Type, sales []catalog.Sale, now time.Time) *Market {
	m := &Market{
		region: region, since: now,
		types: make(map[string]*catalog.Type, len(types)), sales: make(map[string]*sale, len(sales)), free: make(map[model.Option]int),
	}
	for i := range types {
		m.types[types[i].Name] = &types[i]
		m.names = append(m.names, types[i].Name)
	}
	slices.Sort(m.names)
	found := make(map[string]string)
	for i := range sales {
		m.sales[sales[i].Type] = newSale(&sales[i])
		for _, z := range sales[i].Zones {
			found[z] = cmp.Or(sales[i].ZoneIDs[z], found[z])
		}
	}
	for name, id := range found {
		m.zones = append(m.zones, Zone{Name: name, ID: cmp.Or(id, zoneID(region, name))})
	}
	slices.SortFunc(m.zones, func(a, b Zone) int { return strings.Compare(a.Name, b.Name) })
	return m
}

func newSale(from *catalog.Sale) *sale {
	out := &sale{onDemand: from.OnDemand, risk: from.Interruption, spot: make(map[string]model.Price), zones: make(map[string]bool)}
	for _, z := range from.Zones {
		out.zones[z] = true
	}
	for z, price := range from.Spot {
		if out.zones[z] {
			out.spot[z] = price
		}
	}
	return out
}

// Type finds a type; nil when there is none of the name.
func (m *Market) Type(name string) *catalog.Type { return m.types[name] }

// Names are those of all types, sorted. The caller does not change the slice.
func (m *Market) Names() []string { return m.names }

// Zones are the region's, sorted by name. The caller does not change the slice.
func (m *Market) Zones() []Zone { return m.zones }

// ZoneByName finds a zone.
func (m *Market) ZoneByName(name string) (Zone, bool) {
	return m.zone(func(z Zone) bool { return z.Name == name })
}

// ZoneByID finds a zone.
func (m *Market) ZoneByID(id string) (Zone, bool) {
	return m.zone(func(z Zone) bool { return z.ID == id })
}

func (m *Market) zone(is func(Zone) bool) (Zone, bool) {
	if i := slices.IndexFunc(m.zones, is); i >= 0 {
		return m.zones[i], true
	}
	return Zone{}, false
}

// Sells says whether a zone sells a type at all.
func (m *Market) Sells(name, zone string) bool {
	s := m.sales[name]
	return s != nil && s.zones[zone]
}

// Uses are the purchasing options in which a type is sold somewhere, in EC2's
// words.
func (m *Market) Uses(name string) []string {
	var out []string
	s := m.sales[name]
	if s == nil {
		return nil
	}
	if s.onDemand > 0 {
		out = append(out, string(model.OnDemand))
	}
	if len(s.spot) > 0 {
		out = append(out, string(model.Spot))
	}
	return out
}

// Risk is the share of the type's spot instances interrupted per month, 1 when
// nothing is known.
func (m *Market) Risk(name string) float64 {
	if s := m.sales[name]; s != nil {
		return s.risk
	}
	return 1
}

// zoneID is the zone's ID in the manner of AWS: us-west-2b is usw2-az2.
// https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html
func zoneID(region, name string) string {
	var short strings.Builder
	for i, part := range strings.Split(region, "-") {
		switch {
		case i == 0:
			short.WriteString(part)
		case strings.HasPrefix(part, "north") && len(part) > 5:
			short.WriteString("n" + part[5:6])
		case strings.HasPrefix(part, "south") && len(part) > 5:
			short.WriteString("s" + part[5:6])
		case part != "":
			short.WriteString(part[:1])
		}
	}
	letter := strings.TrimPrefix(name, region)
	if len(letter) != 1 {
		return name
	}
	return short.String() + "-az" + string('1'+rune(letter[0]-'a'))
}

// Dollars writes a price without trailing zeros.
func Dollars(p model.Price) string { return strconv.FormatFloat(p.USD(), 'f', -1, 64) }
