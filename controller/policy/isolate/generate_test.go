package isolate_test

import (
	"fmt"
	"strings"
)

// generatedKinds is how many kinds of rules generator.rule makes.
const generatedKinds = 24

// generator makes the rules of a policy of bytes. Rules are named a0, a1 and so on, and refer
// to those before.
type generator struct {
	bytes []byte
	text  strings.Builder
	rules int
}

// generate returns the files of a policy. The first byte says whether the rules depend on the
// question and where they are used: in the policy, in its tests or in both. Each further rule
// takes up to three bytes.
func generate(b []byte) map[string]string {
	g := &generator{bytes: b}
	where := g.next(4)
	first := `["aaaa", 1]`
	if g.next(2) == 1 {
		first = `[input.candidate.node, input.candidate.pods]`
	}
	g.add(first)
	for len(g.bytes) > 0 && g.rules < 200 && g.text.Len() < 100<<10 {
		g.rule()
	}
	last := g.rules - 1
	files := map[string]string{}
	use := fmt.Sprintf("count(json.marshal(a%d)) > 3", last)
	if where%2 == 0 {
		fmt.Fprintf(&g.text, "deny contains \"x\" if { input.candidate.pods > 2; %s }\n", use)
	} else {
		fmt.Fprintf(&g.text, "hold[sprintf(\"%%v\", [a%d])] := 60 if input.candidate.node == \"n\"\n", last)
	}
	files["p.rego"] = g.text.String()
	if where > 1 {
		files["p_test.rego"] = fmt.Sprintf("test_x if { %s with input as {\"candidate\": {\"node\": \"n\", \"pods\": 3}} }\n", use)
	}
	return files
}

// next takes a byte, and returns it modulo n; 0 when there is none left.
func (g *generator) next(n int) int {
	if len(g.bytes) == 0 {
		return 0
	}
	b := g.bytes[0]
	g.bytes = g.bytes[1:]
	return int(b) % n
}

// add adds a rule with a value.
func (g *generator) add(value string) {
	fmt.Fprintf(&g.text, "a%d := %s\n", g.rules, value)
	g.rules++
}

// size returns a number from 1 to 10 million.
func (g *generator) size() int {
	n := 1
	for range g.next(8) {
		n *= 10
	}
	return n
}

// rule adds a rule of one of the kinds.
func (g *generator) rule() {
	kind, of := g.next(generatedKinds), fmt.Sprintf("a%d", max(0, g.rules-1-g.next(3)))
	switch {
	case kind < 8:
		g.structure(kind, of)
	case kind < 16:
		g.enumeration(kind, of)
	default:
		g.call(kind, of)
	}
}

// structure adds rules whose values double, nest or recur.
func (g *generator) structure(kind int, of string) {
	switch n := g.next(60) + 1; kind {
	case 0:
		g.add(fmt.Sprintf("[%s, %s]", of, of))
		for range n {
			last := g.rules - 1
			g.add(fmt.Sprintf("[a%d, a%d]", last, last))
		}
	case 1:
		g.add(fmt.Sprintf(`{"x": %s, "y": {%s}}`, of, of))
	case 2:
		g.add(strings.Repeat("[", n*200) + "1" + strings.Repeat("]", n*200))
	case 3:
		g.add(strings.Repeat("{1 | ", n*10) + "true" + strings.Repeat("}", n*10))
	case 4:
		fmt.Fprintf(&g.text, "f%d(x) := [x, x, %d]\n", g.rules, n)
		g.add(strings.Repeat(fmt.Sprintf("f%d(", g.rules), n) + of + strings.Repeat(")", n))
	case 5:
		g.add(strings.Repeat("(1 + ", n*100) + "1" + strings.Repeat(")", n*100))
	case 6:
		fmt.Fprintf(&g.text, "p%d[x] := y if { some x, y in %s }\n", g.rules, of)
		g.add(fmt.Sprintf("[x | some x in p%d]", g.rules))
	default:
		fmt.Fprintf(&g.text, "default b%d := 0\n", g.rules)
		for i := range n {
			fmt.Fprintf(&g.text, "b%d := 1 if { %s == %d }\n", g.rules, of, i)
		}
		g.add(fmt.Sprintf("b%d", g.rules))
	}
}

// enumeration adds a rule that enumerates, also products.
func (g *generator) enumeration(kind int, of string) {
	n := fmt.Sprintf("numbers.range(1, %d)", g.size())
	switch kind {
	case 8:
		g.add(fmt.Sprintf("[x | some x in %s]", n))
	case 9:
		g.add(fmt.Sprintf("{sprintf(\"%%d%%d\", [x, y]) | some x in %s; some y in %s}", n, n))
	case 10:
		g.add(fmt.Sprintf("count([[x, y, z] | some x in %s; some y in %s; some z in %s])", n, n, n))
	case 11:
		g.add(fmt.Sprintf("{x: %s | some x in %s}", of, n))
	case 12:
		fmt.Fprintf(&g.text, "default e%d := false\ne%d if { every x in %s { x > 0 } }\n", g.rules, g.rules, n)
		g.add(fmt.Sprintf("e%d", g.rules))
	case 13:
		g.add(fmt.Sprintf("product([99999999999 | some x in %s])", n))
	case 14:
		g.add(fmt.Sprintf("[v | walk(%s, [p, v])]", of))
	default:
		g.add(fmt.Sprintf("[x | some x in %s; x * x == 7; not x in {1, 2}]", n))
	}
}

// call adds a rule with calls whose results are long, or take long.
func (g *generator) call(kind int, of string) {
	n, text := g.size(), fmt.Sprintf("sprintf(\"%%v\", [%s])", of)
	switch kind {
	case 16:
		g.add(fmt.Sprintf("concat(\"\", [\"abcdefghijklmnop\" | some x in numbers.range(1, %d)])", n))
	case 17:
		g.add(fmt.Sprintf("replace(%s, \"a\", %s)", text, text))
	case 18:
		g.add(fmt.Sprintf("regex.match(\"((a{0,30}){0,30}){0,%d}b$\", concat(\"\", [\"a\" | some x in numbers.range(1, %d)]))", g.next(30), n))
	case 19:
		g.add(fmt.Sprintf("json.unmarshal(json.marshal(%s))", of))
	case 20:
		g.add(fmt.Sprintf("sprintf(\"%%%dd|%%v|%%s\", [1, %s, %s])", n, of, of))
	case 21:
		g.add(fmt.Sprintf("to_number(\"1e%d\") + 1", n))
	case 22:
		g.add(fmt.Sprintf("split(concat(\"a\", [%s, %s, %s]), \"a\")", text, text, text))
	default:
		g.add(fmt.Sprintf("regex.replace(%s, \"(a|b|c|.)*\", \"$0$0$0\")", text))
	}
}
