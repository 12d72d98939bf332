package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"spokeshave.dev/tools/reference/contrast"
)

// report holds all comparisons.
type report struct {
	Cases          []*contrast.Result       `json:"cases"`
	Consolidations []*contrast.Consolidated `json:"consolidations"`
}

// sums counts the differences by kind.
func (r *report) sums() map[contrast.Kind]int {
	out := map[contrast.Kind]int{}
	add := func(differences []contrast.Difference) {
		for _, d := range differences {
			out[d.Kind]++
		}
	}
	for _, c := range r.Cases {
		add(c.Differences)
	}
	for _, c := range r.Consolidations {
		add(c.Differences)
	}
	return out
}

// write writes the comparisons and the sums by kind of difference.
func (r *report) write(w io.Writer, format string) error {
	sums := r.sums()
	if format == "json" {
		if err := writeJSON(w, struct {
			*report

			Differ map[contrast.Kind]int `json:"differ"`
		}{r, sums}); err != nil {
			return err
		}
	} else if err := r.table(w, sums); err != nil {
		return err
	}
	return r.defect()
}

// defect is errDefect when a difference is a defect here.
func (r *report) defect() error {
	sums := r.sums()
	for _, k := range contrast.Defects() {
		if sums[k] > 0 {
			return errDefect
		}
	}
	return nil
}

func writeJSON(w io.Writer, what any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	if err := e.Encode(what); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func (r *report) table(w io.Writer, sums map[contrast.Kind]int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range r.Cases {
		differences(t, c.Name, c.Differences)
	}
	for _, c := range r.Consolidations {
		differences(t, c.Name, c.Differences)
	}
	if len(r.Cases) > 0 {
		r.plans(t)
	}
	if len(r.Consolidations) > 0 {
		r.consolidated(t)
	}
	fmt.Fprintln(t)
	for _, k := range contrast.Kinds() {
		fmt.Fprintf(t, "%s\t%d\n", k, sums[k])
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

func differences(w io.Writer, name string, list []contrast.Difference) {
	for _, d := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, d.Kind, d.Detail)
	}
}

// plans writes the sums of the plans.
func (r *report) plans(w io.Writer) {
	var ours, theirs contrast.Summary
	asked := 0
	for _, c := range r.Cases {
		asked += c.Asked
		addTo(&ours, &c.Ours)
		addTo(&theirs, &c.Theirs)
	}
	fmt.Fprintf(w, "\n%d cases, %d pods\tplaced\tnew nodes\tUSD/hour\tpreferences met\n", len(r.Cases), asked)
	for _, x := range []struct {
		who string
		s   *contrast.Summary
	}{{"ours", &ours}, {"reference", &theirs}} {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.2f\t%d\n", x.who, x.s.Placed, x.s.Nodes, x.s.USD, x.s.Preferences)
	}
}

func addTo(sum, s *contrast.Summary) {
	sum.Placed, sum.Nodes, sum.USD, sum.Preferences = sum.Placed+s.Placed, sum.Nodes+s.Nodes, sum.USD+s.USD, sum.Preferences+s.Preferences
}

// consolidated writes the sums of the consolidations.
func (r *report) consolidated(w io.Writer) {
	var before, ours, theirs float64
	var nodes, gone, goneThere int
	for _, c := range r.Consolidations {
		before, ours, theirs = before+c.Before, ours+c.Ours.USD, theirs+c.Theirs.USD
		nodes, gone, goneThere = nodes+c.Nodes, gone+len(c.Ours.Removed), goneThere+len(c.Theirs.Removed)
	}
	fmt.Fprintf(w, "\n%d clusters, %d nodes, %.2f USD/hour\tremoved\tUSD/hour left\n", len(r.Consolidations), nodes, before)
	fmt.Fprintf(w, "ours\t%d\t%.2f\nreference\t%d\t%.2f\n", gone, ours, goneThere, theirs)
}
