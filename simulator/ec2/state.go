package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// state is everything that a reset forgets.
type state struct {
	types   map[string]*catalog.Type
	names   []string // of types, sorted
	sales   map[string]*sale
	zones   []zone
	vpcID   string
	subnets []*subnet
	groups  []*securityGroup
	images  []*image
	// parameters are SSM's: path to value.
	parameters map[string]string

	instances map[string]*instance
	order     []*instance // by launch
	templates []*template
	profiles  map[string]*profile
	queues    map[string]*queue
	tokens    map[string]*remembered
	faults    []*Fault
	pools     map[model.Option]int // free capacity where bounded
	// reservations and placements were ordered.
	reservations []*Reservation
	placements   []*PlacementGroup
	shifts       []ZonalShift
	volumes      []VolumePrice
	since        time.Time // when prices last changed
	counts       map[string]map[string]int
	requests     []Request
	counter      uint64

	pendingDelay  time.Duration
	shutdownDelay time.Duration
	lag           time.Duration
}

// sale is what a type costs now, where.
type sale struct {
	onDemand model.Price
	spot     map[string]model.Price
	zones    map[string]bool
	risk     float64
}

type zone struct{ name, id string }

func newState(cfg *Config) *state {
	st := &state{
		types:         make(map[string]*catalog.Type, len(cfg.Types)),
		sales:         make(map[string]*sale, len(cfg.Sales)),
		instances:     make(map[string]*instance),
		parameters:    make(map[string]string),
		profiles:      make(map[string]*profile),
		queues:        make(map[string]*queue),
		tokens:        make(map[string]*remembered),
		pools:         make(map[model.Option]int),
		counts:        make(map[string]map[string]int),
		volumes:       volumePrices(),
		since:         cfg.Clock.Now(),
		pendingDelay:  cfg.PendingDelay,
		shutdownDelay: cfg.ShutdownDelay,
		lag:           cfg.Lag,
	}
	for i := range cfg.Types {
		st.types[cfg.Types[i].Name] = &cfg.Types[i]
		st.names = append(st.names, cfg.Types[i].Name)
	}
	slices.Sort(st.names)
	found := make(map[string]string)
	for i := range cfg.Sales {
		from := &cfg.Sales[i]
		to := &sale{onDemand: from.OnDemand, risk: from.Interruption, spot: make(map[string]model.Price), zones: make(map[string]bool)}
		for _, z := range from.Zones {
			to.zones[z] = true
			found[z] = cmp.Or(from.ZoneIDs[z], found[z])
		}
		for z, price := range from.Spot {
			if to.zones[z] {
				to.spot[z] = price
			}
		}
		st.sales[from.Type] = to
	}
	for name, id := range found {
		st.zones = append(st.zones, zone{name: name, id: cmp.Or(id, zoneID(cfg.Region, name))})
	}
	slices.SortFunc(st.zones, func(a, b zone) int { return strings.Compare(a.name, b.name) })
	st.addNetwork(cfg)
	st.addImages(cfg)
	st.queues[cfg.Queue] = &queue{name: cfg.Queue}
	return st
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

func (st *state) zoneByName(name string) (zone, bool) {
	for _, z := range st.zones {
		if z.name == name {
			return z, true
		}
	}
	return zone{}, false
}

func (st *state) zoneByID(id string) (zone, bool) {
	for _, z := range st.zones {
		if z.id == id {
			return z, true
		}
	}
	return zone{}, false
}

// price is what an hour costs; 0 when it is not sold so.
func (st *state) price(o model.Option) model.Price {
	sale := st.sales[o.InstanceType]
	switch {
	case sale == nil || !sale.zones[o.Zone]:
		return 0
	case o.CapacityType == model.Spot:
		return sale.spot[o.Zone]
	default:
		return sale.onDemand
	}
}

// hash is a number that depends on the seed and the words alone.
func (s *Server) hash(words ...string) uint64 {
	sum := hashWords(s.cfg.Seed, words...)
	return binary.BigEndian.Uint64(sum[:8])
}

func hashWords(seed uint64, words ...string) [32]byte {
	text := binary.BigEndian.AppendUint64(nil, seed)
	for _, w := range words {
		text = append(append(text, w...), 0)
	}
	return sha256.Sum256(text)
}

// fixedID is an identifier that depends on the seed and the words alone.
func fixedID(seed uint64, prefix string, words ...string) string {
	sum := hashWords(seed, append(words, prefix)...)
	return prefix + "-0" + hex.EncodeToString(sum[:8])
}

// newID makes an identifier that was never used before.
func (s *Server) newID(prefix string) string {
	s.state.counter++
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], s.state.counter)
	return fixedID(s.cfg.Seed, prefix, string(n[:]))
}

// requestID is an identifier in the form of a UUID.
func (s *Server) requestID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uuid()
}

func (s *Server) uuid() string {
	s.state.counter++
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], s.state.counter)
	sum := hashWords(s.cfg.Seed, "request", string(n[:]))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
