package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// exportType is one element of an exported catalogue. Amounts are Kubernetes
// quantities; prices are USD per hour.
type exportType struct {
	Name        string            `json:"name"`
	Arch        string            `json:"arch"`
	OS          string            `json:"os"`
	Labels      map[string]string `json:"labels"`
	Capacity    map[string]amount `json:"capacity"`
	Allocatable map[string]amount `json:"allocatable"`
	Offerings   []exportOffering  `json:"offerings"`
}

type exportOffering struct {
	Zone         string             `json:"zone"`
	ZoneID       string             `json:"zoneID,omitempty"`
	CapacityType model.CapacityType `json:"capacityType"`
	Price        float64            `json:"price"`
	Interruption float64            `json:"interruption,omitempty"`
	// Available is true when absent.
	Available *bool `json:"available"`
}

// Write encodes the catalogue as a JSON array, one instance type per line. Read decodes
// it without loss.
func Write(w io.Writer, c *model.Catalog) error {
	sep := "["
	for i := range c.Types {
		line, err := json.Marshal(exportOf(&c.Types[i]))
		if err != nil {
			return fmt.Errorf("encode %s: %w", c.Types[i].Name, err)
		}
		if _, err := fmt.Fprintf(w, "%s\n  %s", sep, line); err != nil {
			return fmt.Errorf("write catalog: %w", err)
		}
		sep = ","
	}
	end := "\n]\n"
	if len(c.Types) == 0 {
		end = "[]\n"
	}
	if _, err := io.WriteString(w, end); err != nil {
		return fmt.Errorf("write catalog: %w", err)
	}
	return nil
}

func exportOf(t *model.InstanceType) *exportType {
	out := &exportType{
		Name: t.Name, Arch: t.Arch, OS: t.OS, Labels: t.Labels,
		Capacity: amounts(t.Capacity), Allocatable: amounts(t.Allocatable),
		Offerings: make([]exportOffering, 0, len(t.Offerings)),
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		out.Offerings = append(out.Offerings, exportOffering{
			Zone: o.Zone, ZoneID: o.ZoneID, CapacityType: o.CapacityType, Price: o.Price.USD(),
			Interruption: o.Interruption, Available: &o.Available,
		})
	}
	return out
}

// Read decodes a catalogue in Write's format. name is the file's name for error
// messages, which also give the line of the invalid instance type. Unknown fields are
// errors. A missing os is linux, a missing allocatable is the capacity, and the labels
// for name, architecture and operating system are filled in.
func Read(name string, raw []byte) (model.Catalog, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	at := func(offset int64, err error) error {
		return fmt.Errorf("%s:%d: %w", name, lineOf(raw, offset), err)
	}
	open, err := dec.Token()
	if err != nil || open != json.Delim('[') {
		return model.Catalog{}, at(dec.InputOffset(), errors.New("read catalog: want a JSON array of instance types"))
	}
	var out model.Catalog
	seen := map[string]bool{}
	for dec.More() {
		start := skipSpace(raw, dec.InputOffset())
		var e exportType
		if err := dec.Decode(&e); err != nil {
			return model.Catalog{}, at(faultOffset(err, start, dec.InputOffset()), fmt.Errorf("read catalog: instance type %d: %w", len(out.Types), err))
		}
		t, err := e.lower()
		switch {
		case err != nil:
			return model.Catalog{}, at(start, fmt.Errorf("read catalog: instance type %d (%q): %w", len(out.Types), e.Name, err))
		case seen[t.Name]:
			return model.Catalog{}, at(start, fmt.Errorf("read catalog: instance type %q stands there twice", t.Name))
		}
		seen[t.Name] = true
		out.Types = append(out.Types, t)
	}
	if _, err := dec.Token(); err != nil {
		return model.Catalog{}, at(dec.InputOffset(), fmt.Errorf("read catalog: %w", err))
	}
	if rest := skipSpace(raw, dec.InputOffset()); rest < int64(len(raw)) {
		return model.Catalog{}, at(rest, errors.New("read catalog: more text after the array"))
	}
	slices.SortFunc(out.Types, func(a, b model.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	out.Region = commonRegion(out.Types)
	out.Generation = Generation(&out)
	return out, nil
}

func (e *exportType) lower() (model.InstanceType, error) {
	if e.Name == "" || e.Arch == "" {
		return model.InstanceType{}, errors.New("name and arch must be set")
	}
	t := model.InstanceType{Name: e.Name, Arch: e.Arch, OS: e.OS, Labels: maps.Clone(e.Labels)}
	if t.OS == "" {
		t.OS = "linux"
	}
	if t.Labels == nil {
		t.Labels = map[string]string{}
	}
	for key, value := range map[string]string{LabelInstanceType: t.Name, LabelArch: t.Arch, LabelOS: t.OS} {
		if have, ok := t.Labels[key]; ok && have != value {
			return t, fmt.Errorf("label %s is %q, want %q", key, have, value)
		}
		t.Labels[key] = value
	}
	var err error
	if t.Capacity, err = resources(e.Capacity); err != nil {
		return t, fmt.Errorf("capacity: %w", err)
	}
	if t.Allocatable, err = resources(e.Allocatable); err != nil {
		return t, fmt.Errorf("allocatable: %w", err)
	}
	if e.Allocatable == nil {
		t.Allocatable = t.Capacity.Clone()
	}
	for _, key := range []string{model.CPU, model.Memory, model.PodSlots} {
		if _, ok := t.Capacity[key]; !ok {
			return t, fmt.Errorf("capacity: %s must be set", key)
		}
	}
	for i := range e.Offerings {
		o, err := e.Offerings[i].lower()
		if err != nil {
			return t, fmt.Errorf("offering %d: %w", i, err)
		}
		t.Offerings = append(t.Offerings, o)
	}
	return t, nil
}

// maxPrice is the highest price that Read accepts, in USD per hour, so that sums of
// prices stay within model.Price.
const maxPrice = 1e6

func (e *exportOffering) lower() (model.Offering, error) {
	o := model.Offering{
		Zone: e.Zone, ZoneID: e.ZoneID, CapacityType: e.CapacityType, Price: model.PriceOf(e.Price),
		Interruption: e.Interruption, Available: e.Available == nil || *e.Available,
	}
	switch {
	case e.Zone == "":
		return o, errors.New("zone must be set")
	case e.CapacityType != model.Spot && e.CapacityType != model.OnDemand && e.CapacityType != model.Reserved:
		return o, fmt.Errorf("capacityType %q: want spot, on-demand or reserved", e.CapacityType)
	case e.Price < 0 || e.Price > maxPrice:
		return o, fmt.Errorf("price %g: want 0 to %g USD per hour", e.Price, float64(maxPrice))
	case e.Interruption < 0 || e.Interruption > 1:
		return o, fmt.Errorf("interruption %g: want a share from 0 to 1", e.Interruption)
	}
	return o, nil
}

// commonRegion returns the region label that all types have, "" if they differ.
func commonRegion(types []model.InstanceType) string {
	region := ""
	for i := range types {
		own := types[i].Labels[LabelRegion]
		if i > 0 && own != region {
			return ""
		}
		region = own
	}
	return region
}

func lineOf(raw []byte, offset int64) int {
	return 1 + bytes.Count(raw[:min(offset, int64(len(raw)))], []byte{'\n'})
}

// skipSpace returns the offset after white space and commas.
func skipSpace(raw []byte, offset int64) int64 {
	for offset < int64(len(raw)) && strings.IndexByte(" \t\r\n,", raw[offset]) >= 0 {
		offset++
	}
	return offset
}

// faultOffset returns the best known offset of a decoding error in the element from
// start to end.
func faultOffset(err error, start, end int64) int64 {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > start {
		return syntax.Offset
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return end
	}
	return start
}
