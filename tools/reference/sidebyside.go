package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/tools/reference/contrast"
	"spokeshave.dev/tools/reference/raise"
)

// manifests are those of one cluster, and how they are read.
type manifests struct {
	paths           []string
	catalog, region string
	at              string
	spotToSpot      bool
}

func (m *manifests) flags(f *flag.FlagSet) {
	f.Func("f", "file or folder of manifests, or a snapshot: show both consolidations of this cluster; may be repeated", func(path string) error {
		m.paths = append(m.paths, path)
		return nil
	})
	f.StringVar(&m.catalog, "catalog", "", "with -f: catalogue file, as spokeshave catalog export writes it")
	f.StringVar(&m.region, "region", "", "with -f: region of the embedded catalogue")
	f.StringVar(&m.at, "time", "", "with -f: time of the decision, RFC 3339 (default: now)")
	f.BoolVar(&m.spotToSpot, "spot-to-spot", false, "with -f: feature gate SpotToSpotConsolidation")
}

// beside is what both do next with a cluster, and what is left of it in the end.
type beside struct {
	*contrast.Commands

	// End compares all rounds. It is absent where pods wait, since both place these first.
	End *contrast.Consolidated `json:"end,omitempty"`
}

// sideBySide writes what both would remove of the cluster.
func (m *manifests) sideBySide(ctx context.Context, w io.Writer, format string) error {
	c, err := m.read()
	if err != nil {
		return err
	}
	out := &beside{}
	if out.Commands, err = contrast.Next(ctx, c); err != nil {
		return err
	}
	var compared report
	if !slices.ContainsFunc(c.Snapshot.Pods, func(p model.Pod) bool { return p.Node < 0 }) {
		if out.End, err = contrast.Consolidate(ctx, c); err != nil {
			return err
		}
		compared.Consolidations = append(compared.Consolidations, out.End)
		for i := range out.Kept { // its later rounds look at more nodes than the first
			if k := &out.Kept[i]; k.Theirs == "" {
				k.Theirs = out.End.Theirs.Kept[k.Node]
			}
		}
	}
	if format == "json" {
		err = writeJSON(w, out)
	} else {
		err = out.table(w)
	}
	if err != nil {
		return err
	}
	return compared.defect()
}

func (b *beside) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NEXT\tMETHOD\tREMOVES\tLAUNCHES\tSAVES USD/HOUR")
	commands(t, "ours", b.Ours)
	commands(t, "reference", b.Theirs)
	if b.End != nil {
		fmt.Fprintln(t, "\nIN THE END\tROUNDS\tREMOVES\tLAUNCHES\tLEFT USD/HOUR")
		for _, x := range []struct {
			who string
			end *contrast.End
		}{{"ours", &b.End.Ours}, {"reference", &b.End.Theirs}} {
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%.4f\n", x.who, x.end.Rounds, listed(x.end.Removed), listed(x.end.Launched), x.end.USD)
		}
	}
	if len(b.Kept) > 0 {
		fmt.Fprintln(t, "\nKEPT\tOURS\tREFERENCE")
		for _, k := range b.Kept {
			fmt.Fprintf(t, "%s\t%s\t%s\n", k.Node, listed([]string{k.Ours}), listed([]string{k.Theirs}))
		}
	}
	if b.End != nil && len(b.End.Differences) > 0 {
		fmt.Fprintln(t)
		differences(t, "difference", b.End.Differences)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func commands(w io.Writer, who string, list []contrast.Command) {
	if len(list) == 0 {
		fmt.Fprintf(w, "%s\tnothing\n", who)
	}
	for i := range list {
		c := &list[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.4f", who, c.Method, listed(c.Removed), listed(c.Launched), c.Saves)
		if c.Breaks != "" {
			fmt.Fprintf(w, " (breaks a rule: %s)", c.Breaks)
		}
		fmt.Fprintln(w)
	}
}

func listed(names []string) string {
	if text := strings.Join(names, ", "); text != "" {
		return text
	}
	return "-"
}

// read is the cluster in both forms.
func (m *manifests) read() (*contrast.Case, error) {
	objects, err := scenario.Read(m.paths...)
	if err != nil {
		return nil, err
	}
	opts := scenario.Options{Time: time.Now(), Region: m.region, Settings: model.Settings{SpotToSpot: m.spotToSpot}}
	if m.at != "" {
		opts.Asked = []string{"-time"}
		if opts.Time, err = time.Parse(time.RFC3339, m.at); err != nil {
			return nil, fmt.Errorf("-time: %w", err)
		}
	}
	if m.catalog != "" {
		raw, err := scenario.ReadFile(m.catalog)
		if err != nil {
			return nil, err
		}
		types, err := catalog.Read(m.catalog, raw)
		if err != nil {
			return nil, err
		}
		opts.Catalog = &types
	}
	s, err := objects.Snapshot(opts)
	if err != nil {
		return nil, err
	}
	c := &contrast.Case{Name: strings.Join(m.paths, " "), Snapshot: &s}
	if objects.Taken != nil {
		raise.Normalize(&s)
		return c, nil
	}
	c.World, err = raise.Objects(objects, &s)
	return c, err
}
