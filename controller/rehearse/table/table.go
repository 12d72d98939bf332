// Package table writes tables for people. On a terminal that is narrower than a table, its
// widest cells are shortened, so that each row stays a line. Elsewhere nothing is: what a
// file or a pipe is given is whole.
package table

import (
	"bytes"
	"fmt"
	"io"
	"os"
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
)

// Writer aligns lines whose cells are separated by tabs. Lines without a tab end a table.
// Flush writes what it was given.
type Writer struct {
	out   io.Writer
	width int
	flags uint
	// prose is set when the last column has sentences, which are never shortened.
	prose bool
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
	t := tabwriter.NewWriter(w.out, 0, 0, gap, ' ', w.flags)
	if _, err := io.WriteString(t, fit(w.text.String(), w.width, w.prose)); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	w.text.Reset()
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// fit shortens cells of a table until its lines have at most width characters, or no
// column is wider than narrow. With prose the last column is left alone.
func fit(text string, width int, prose bool) string { //nolint:revive // a fact about the table
	if width <= 0 {
		return text
	}
	rows := strings.Split(text, "\n")
	var cells [][]string
	var widths []int
	for _, row := range rows {
		line := strings.Split(row, "\t")
		cells = append(cells, line)
		if len(line) < 2 {
			continue
		}
		for i, cell := range line {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	whole := len(widths)
	if prose && whole > 0 {
		whole--
	}
	most := shrunk(widths[:whole], width)
	for r, line := range cells {
		if len(line) < 2 {
			continue
		}
		for i := range min(len(line), whole) {
			line[i] = shorten(line[i], most[i])
		}
		rows[r] = strings.Join(line, "\t")
	}
	return strings.Join(rows, "\n")
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
