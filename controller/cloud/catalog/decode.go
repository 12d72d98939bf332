package catalog

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	"spokeshave.dev/controller/core/model"
)

// maxPlain is the largest size of an uncompressed file of the catalogue in bytes.
const maxPlain = 16 << 20

// The records below mirror those of gen/source.go.

// typeRecord is an instance type in the embedded files.
//
// Size: one field for each fact about an instance type, as in Type.
type typeRecord struct {
	Name    string         `json:"n"`
	Arch    string         `json:"a"`
	VCPU    int            `json:"c"`
	Memory  int64          `json:"m"`
	Metal   bool           `json:"b"`
	Hyper   string         `json:"h"`
	ENIs    int            `json:"e"`
	IPs     int            `json:"i"`
	Network int            `json:"w"`
	EBS     int            `json:"s"`
	Maker   string         `json:"p"`
	Clock   int            `json:"z"`
	NVMe    int            `json:"l"`
	Encrypt bool           `json:"t"`
	EFAs    int            `json:"f"`
	GPUs    []deviceRecord `json:"g"`
	Accels  []deviceRecord `json:"x"`
}

type deviceRecord struct {
	Name   string `json:"n"`
	Maker  string `json:"p"`
	Count  int    `json:"c"`
	Memory int64  `json:"m"`
}

type regionRecord struct {
	Region string       `json:"region"`
	Zones  []string     `json:"zones"`
	Sales  []saleRecord `json:"sales"`
}

type saleRecord struct {
	Type      string  `json:"n"`
	OnDemand  int64   `json:"d"`
	Zones     []int   `json:"z"`
	Spot      []int64 `json:"s"`
	Interrupt int     `json:"i"`
}

// unpack decodes one JSON value in gzip, of limited size.
func unpack(raw []byte, into any) error {
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(zip, maxPlain+1))
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	if len(plain) > maxPlain {
		return fmt.Errorf("unpack: more than %d bytes", maxPlain)
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	return nil
}

func decodeTypes(raw []byte) ([]Type, error) {
	var records []typeRecord
	if err := unpack(raw, &records); err != nil {
		return nil, err
	}
	out := make([]Type, 0, len(records))
	for i := range records {
		r := &records[i]
		if r.Name == "" || r.Arch == "" || r.VCPU <= 0 || r.Memory <= 0 {
			return nil, fmt.Errorf("type %d (%q): name, architecture, vCPUs and memory must be set", i, r.Name)
		}
		t := Type{
			Name: r.Name, Arch: r.Arch, VCPU: r.VCPU, MemoryMiB: r.Memory,
			BareMetal: r.Metal, Hypervisor: r.Hyper, ENIs: r.ENIs, IPv4PerENI: r.IPs,
			NetworkMbps: r.Network, EBSMbps: r.EBS, CPUManufacturer: r.Maker, ClockMHz: r.Clock,
			LocalNVMeGB: r.NVMe, EncryptionInTransit: r.Encrypt, EFAs: r.EFAs,
			PodENIs: BranchENIs(r.Name),
			GPUs:    devicesOf(r.GPUs), Accelerators: devicesOf(r.Accels),
		}
		t.Can = abilities(&t)
		if t.ENIs > 0 { // the source counts those of all cards for some types, such as i7ie.48xlarge
			t.ENIs = t.Can.CardENIs[0]
		}
		out = append(out, t)
	}
	return out, nil
}

func devicesOf(records []deviceRecord) []Device {
	if len(records) == 0 {
		return nil
	}
	out := make([]Device, 0, len(records))
	for _, r := range records {
		out = append(out, Device{Name: r.Name, Manufacturer: r.Maker, Count: r.Count, MemoryMiB: r.Memory})
	}
	return out
}

// interruption returns the middle of the band that AWS publishes, as a share per month,
// for a code of saleRecord.Interrupt. The highest band has no upper limit.
// https://aws.amazon.com/ec2/spot/instance-advisor/
func interruption(code int) float64 {
	switch code {
	case 1:
		return 0.025
	case 2:
		return 0.075
	case 3:
		return 0.125
	case 4:
		return 0.175
	case 5:
		return 0.25
	default:
		return 0
	}
}

func decodeSales(raw []byte) ([]Sale, error) {
	var region regionRecord
	if err := unpack(raw, &region); err != nil {
		return nil, err
	}
	if len(region.Zones) == 0 {
		return assumeZones(&region)
	}
	names := make([]string, 0, len(region.Zones))
	ids := make(map[string]string, len(region.Zones))
	for _, id := range region.Zones {
		name, err := zoneName(region.Region, id)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		ids[name] = id
	}
	out := make([]Sale, 0, len(region.Sales))
	for i := range region.Sales {
		sale, err := region.Sales[i].sale(names)
		if err != nil {
			return nil, fmt.Errorf("sale %d (%q): %w", i, region.Sales[i].Type, err)
		}
		sale.ZoneIDs = ids
		out = append(out, sale)
	}
	return out, nil
}

// assumeZones returns the sales of a region whose zones the catalogue does not know: each
// type in zones a, b and c, without IDs. Most regions have these.
func assumeZones(region *regionRecord) ([]Sale, error) {
	out := make([]Sale, 0, len(region.Sales))
	for i := range region.Sales {
		r := &region.Sales[i]
		if r.OnDemand <= 0 {
			return nil, fmt.Errorf("sale %d (%q): it has no price", i, r.Type)
		}
		out = append(out, Sale{
			Type: r.Type, OnDemand: model.Price(r.OnDemand), Zones: []string{region.Region + "a", region.Region + "b", region.Region + "c"},
		})
	}
	return out, nil
}

func (r *saleRecord) sale(zones []string) (Sale, error) {
	sale := Sale{Type: r.Type, OnDemand: model.Price(r.OnDemand), Interruption: interruption(r.Interrupt)}
	if len(r.Spot) > 0 {
		sale.Spot = make(map[string]model.Price, len(r.Spot))
	}
	for i, at := range r.Zones {
		if at < 0 || at >= len(zones) {
			return Sale{}, fmt.Errorf("zone %d of %d", at, len(zones))
		}
		sale.Zones = append(sale.Zones, zones[at])
		if i < len(r.Spot) && r.Spot[i] > 0 {
			sale.Spot[zones[at]] = model.Price(r.Spot[i])
		}
	}
	return sale, nil
}

// zoneName returns the zone name that this catalogue uses for a zone ID: the number
// after "-az" becomes a letter.
func zoneName(region, id string) (string, error) {
	n := 0
	for i := len(id) - 1; i >= 0 && id[i] >= '0' && id[i] <= '9'; i-- {
		n++
	}
	digits := id[len(id)-n:]
	if len(digits) != 1 || digits == "0" {
		return "", fmt.Errorf("zone ID %q: want a suffix -az1 to -az9", id)
	}
	return region + string('a'+digits[0]-'1'), nil
}
