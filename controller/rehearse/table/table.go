// Package table writes tables for people. On a terminal that is narrower than a table,
// columns that can be spared are left out and the widest cells are shortened, so that each
// row stays a line. Elsewhere nothing is: what a file or a pipe is given is whole.
package table

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	// gap is the number of spaces between columns.
	gap = 2
	// narrow is the width in characters below which no column is shortened.
	narrow = 8
	// legible is the width in characters to which a cell may be shortened before another
	// column is left out.
	legible = 14
)

// Writer aligns lines whose cells are separated by tabs. Lines without a tab end a table.
// Flush writes what it was given.
type Writer struct {
	out   io.Writer
	width int
	flags uint
	// prose is set when the last column has sentences, which are never shortened.
	prose bool
	// spare are the headings of columns that may be left out, in this order.
	spare []string
	text  bytes.Buffer
}

// New returns a Writer for tables as wide as the terminal that out is.
func New(out io.Writer) *Writer { return Within(out, Width(out)) }

// Within returns a Writer for tables of at most width characters, of any for 0.
func Within(out io.Writer, width int) *Writer { return &Writer{out: out, width: width} }

// Right aligns the cells on the right, and returns the Writer.
func (w *Writer) Right() *Writer {
	w.flags = tabwriter.AlignRight
	return w
}

// Prose says that the last column has sentences, which are never shortened, and returns the
// Writer.
func (w *Writer) Prose() *Writer {
	w.prose = true
	return w
}

// Spare says which columns may be left out, by their headings, the first one first, and
// returns the Writer.
func (w *Writer) Spare(headings ...string) *Writer {
	w.spare = headings
	return w
}

// Width returns how many characters a line of out has; 0 when it is no terminal.
func Width(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Write takes text. It never fails.
func (w *Writer) Write(text []byte) (int, error) { return w.text.Write(text) } //nolint:wrapcheck // a buffer's

// Flush writes the table.
func (w *Writer) Flush() error {
	g := read(w.text.String())
	if w.width > 0 {
		g.omit(w.width, w.spare, w.prose)
		g.shorten(w.width, w.prose)
	}
	t := tabwriter.NewWriter(w.out, 0, 0, gap, ' ', w.flags)
	if _, err := io.WriteString(t, g.text()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	w.text.Reset()
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// grid is text as lines of cells. Lines of one cell are not part of the table.
type grid [][]string

func read(text string) grid {
	var out grid
	for row := range strings.SplitSeq(text, "\n") {
		out = append(out, strings.Split(row, "\t"))
	}
	return out
}

func (g grid) text() string {
	rows := make([]string, len(g))
	for i, line := range g {
		rows[i] = strings.Join(line, "\t")
	}
	return strings.Join(rows, "\n")
}

// widths returns the widths of the columns, without the last one if that is prose.
func (g grid) widths(prose bool) []int { //nolint:revive // a fact about the table
	var out []int
	for _, line := range g {
		if len(line) < 2 {
			continue
		}
		for i, cell := range line {
			if i == len(out) {
				out = append(out, 0)
			}
			out[i] = max(out[i], utf8.RuneCountInString(cell))
		}
	}
	if prose && len(out) > 0 {
		return out[:len(out)-1]
	}
	return out
}

// omit leaves out columns, one after the other, until the others fit into a line with cells
// of legible width.
func (g grid) omit(line int, spare []string, prose bool) {
	for _, heading := range spare {
		sum := 0
		for _, w := range g.widths(prose) {
			sum += min(w, legible) + gap
		}
		if sum-gap <= line {
			return
		}
		at := slices.Index(g[0], heading)
		if at < 0 {
			continue
		}
		for i := range g {
			if len(g[i]) > 1 && at < len(g[i]) {
				g[i] = slices.Delete(g[i], at, at+1)
			}
		}
	}
}

// shorten shortens cells until lines have at most so many characters, or no column is wider
// than narrow.
func (g grid) shorten(line int, prose bool) {
	most := shrunk(g.widths(prose), line)
	for _, cells := range g {
		if len(cells) < 2 {
			continue
		}
		for i := range min(len(cells), len(most)) {
			cells[i] = shorten(cells[i], most[i])
		}
	}
}

// shrunk returns the widths of columns that fit into a line: the widest ones are made equal,
// and no smaller than needed.
func shrunk(widths []int, line int) []int {
	out, sum := append([]int(nil), widths...), gap*(len(widths)-1)
	for _, w := range widths {
		sum += w
	}
	for ; sum > line; sum-- {
		widest := 0
		for i := range out {
			if out[i] > out[widest] {
				widest = i
			}
		}
		if out[widest] <= narrow {
			break
		}
		out[widest]--
	}
	return out
}

// shorten leaves out the middle of a text that has more than so many characters: names begin
// alike, and end with what tells them apart.
func shorten(text string, most int) string {
	all := []rune(text)
	if len(all) <= most {
		return text
	}
	tail := (most - 1) / 3
	return string(all[:most-1-tail]) + "…" + string(all[len(all)-tail:])
}
