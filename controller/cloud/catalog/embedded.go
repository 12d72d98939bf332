package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed data/*.json.gz
var data embed.FS

// ErrUnknownRegion says that the embedded catalogue does not contain a region.
var ErrUnknownRegion = errors.New("not in the embedded catalogue")

const suffix = ".json.gz"

// Regions lists the regions of the embedded catalogue, sorted.
func Regions() []string {
	entries, err := fs.ReadDir(data, "data")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && name != "types" && name != "vpc" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Load decodes the embedded facts and prices of a region: every type sold there, sorted
// by name, and its sale at the same index. Every call decodes again, which takes a few
// milliseconds.
func Load(region string) ([]Type, []Sale, error) {
	if !slices.Contains(Regions(), region) {
		return nil, nil, fmt.Errorf("load catalog of region %q: %w (have %s; for another region pass a catalogue file)",
			region, ErrUnknownRegion, strings.Join(Regions(), ", "))
	}
	all, err := decodeFile("types", decodeTypes)
	if err != nil {
		return nil, nil, err
	}
	sales, err := decodeFile(region, decodeSales)
	if err != nil {
		return nil, nil, err
	}
	byName := make(map[string]int, len(all))
	for i := range all {
		byName[all[i].Name] = i
	}
	types := make([]Type, 0, len(sales))
	for i := range sales {
		at, ok := byName[sales[i].Type]
		if !ok {
			return nil, nil, fmt.Errorf("load catalog of region %s: sale of unknown type %q", region, sales[i].Type)
		}
		types = append(types, all[at])
	}
	return types, sales, nil
}

func decodeFile[T any](name string, decode func([]byte) (T, error)) (T, error) {
	raw, err := data.ReadFile(path.Join("data", name+suffix))
	if err != nil {
		var none T
		return none, fmt.Errorf("read embedded catalog: %w", err)
	}
	out, err := decode(raw)
	if err != nil {
		return out, fmt.Errorf("decode embedded catalog %s: %w", name, err)
	}
	return out, nil
}
