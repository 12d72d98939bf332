package top

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"spokeshave.dev/controller/rehearse/table"
	"spokeshave.dev/controller/rehearse/wording"
)

// WriteTable writes the nodes as a table, and the total below it. On a terminal that is too
// narrow for them the bars are left out, and then columns.
func (s *Summary) WriteTable(out io.Writer) error { return s.write(out, table.Width(out)) }

// barred is the width in characters from which a terminal has room for bars.
const barred = 130

func (s *Summary) write(out io.Writer, width int) error {
	bars := width == 0 || width >= barred
	w := table.Within(out, width).Spare("STATE", "PODS", "ZONE", "AGE", "BOUGHT", "NODEPOOL")
	_, _ = fmt.Fprintln(w, "NODE\tNODEPOOL\tTYPE\tZONE\tBOUGHT\tSTATE\tAGE\t$/H\tCPU\tMEMORY\tPODS") // Flush tells an error
	for i := range s.Nodes {
		n := &s.Nodes[i]
		price := "-"
		if n.Price != nil {
			price = strconv.FormatFloat(*n.Price, 'f', 4, 64)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f/%.0f\n", n.Name, wording.Dash(n.NodePool), wording.Dash(n.Type), wording.Dash(n.Zone), wording.Dash(n.Capacity),
			n.State, age(n.Age), price, n.CPU.share(bars), n.Memory.share(bars), n.Pods.Requested, n.Pods.Allocatable)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	t := &s.Total
	_, err := fmt.Fprintf(out, "\n%d nodes with a price: %.4f $/h, CPU %.0f %% and memory %.0f %% requested; %s without a node\n", t.Nodes, t.Price, t.CPU.Percent(), t.Memory.Percent(), wording.Plural(t.Waiting, "pod"))
	return err
}

// share is a share in percent, after a bar of ten characters if bar is set.
func (f Fill) share(bar bool) string { //nolint:revive // how it looks
	const full, empty = "##########", ".........."
	percent := fmt.Sprintf("%3.0f %%", f.Percent())
	if !bar {
		return percent
	}
	n := min(10, max(0, int(f.Percent()/10+0.5)))
	return full[:n] + empty[n:] + " " + percent
}

// age is an age as kubectl prints it.
func age(seconds int64) string {
	if seconds == 0 {
		return "-"
	}
	return duration.HumanDuration(time.Duration(seconds) * time.Second)
}
