package top

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// WriteTable writes the nodes as a table, and the total below it.
func (s *Summary) WriteTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "NODE\tNODEPOOL\tTYPE\tZONE\tBOUGHT\tSTATE\tAGE\t$/H\tCPU\tMEMORY\tPODS") // Flush tells an error
	for i := range s.Nodes {
		n := &s.Nodes[i]
		price := "-"
		if n.Price != nil {
			price = strconv.FormatFloat(*n.Price, 'f', 4, 64)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f/%.0f\n", n.Name, dash(n.NodePool), dash(n.Type), dash(n.Zone), dash(n.Capacity),
			n.State, age(n.Age), price, n.CPU.bar(), n.Memory.bar(), n.Pods.Requested, n.Pods.Allocatable)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	t := &s.Total
	_, err := fmt.Fprintf(out, "\n%d nodes with a price: %.4f $/h, CPU %.0f %% and memory %.0f %% requested; %d pods wait\n", t.Nodes, t.Price, t.CPU.Percent(), t.Memory.Percent(), t.Waiting)
	return err
}

// bar is a share as a bar of ten characters, and in percent.
func (f Fill) bar() string {
	const full, empty = "##########", ".........."
	n := min(10, max(0, int(f.Percent()/10+0.5)))
	return fmt.Sprintf("%s%s %3.0f %%", full[:n], empty[n:], f.Percent())
}

// age is an age in its largest unit, as kubectl prints it.
func age(seconds int64) string {
	switch d := time.Duration(seconds) * time.Second; {
	case seconds == 0:
		return "-"
	case d < 2*time.Minute:
		return strconv.FormatInt(seconds, 10) + "s"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	default:
		return strconv.Itoa(int(d.Hours()/24)) + "d"
	}
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
