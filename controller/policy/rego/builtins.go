package rego

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// allowed returns the built-in functions that policies may call. They are pure, and
// either bounded by their input or stopped by the deadline. Left out are functions
// that access the network or the process (http.send, net.lookup_ip_addr,
// opa.runtime), that are random or handle keys, and those that are known to continue
// after cancellation (bits.*, graph.*, strings.render_template, regex.globs_match).
func allowed() []string {
	return strings.Fields(`
		abs array.concat array.flatten array.reverse array.slice assign
		ceil concat contains count crypto.md5 crypto.sha1 crypto.sha256 div endswith eq
		equal floor format_int glob.match glob.quote_meta gt gte indexof indexof_n
		internal.member_2 internal.member_3 internal.template_string intersection is_array
		is_boolean is_null is_number is_object is_set is_string
		json.filter json.is_valid json.marshal json.patch json.remove json.unmarshal
		lower lt lte max min minus mul neq net.cidr_contains net.cidr_is_valid
		numbers.range numbers.range_step object.filter object.get object.keys object.remove
		object.subset object.union object.union_n or and plus product regex.find_n
		regex.is_valid regex.match regex.replace regex.split rem round
		semver.compare semver.is_valid set_diff sort split sprintf startswith
		strings.any_prefix_match strings.any_suffix_match strings.count
		strings.replace_n strings.reverse substring sum time.add_date
		time.clock time.date time.diff time.format time.now_ns time.parse_duration_ns
		time.parse_ns time.parse_rfc3339_ns time.weekday to_number trim trim_left
		trim_prefix trim_right trim_space trim_suffix type_name union units.parse
		units.parse_bytes upper replace urlquery.decode urlquery.encode walk`)
}

// testBuiltins returns the functions that a policy's tests may use in addition.
func testBuiltins() []string { return []string{"internal.print", "print"} }

// capabilities returns OPA's capabilities without the functions that are not
// allowed.
func capabilities(more ...string) *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	names := append(allowed(), more...)
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool { return !slices.Contains(names, b.Name) })
	c.AllowNet = []string{}
	return c
}

// checkFormats refuses sprintf with a width or precision that could use gigabytes,
// since the deadline is not checked within a single call.
func checkFormats(modules map[string]*ast.Module) []error {
	wide := regexp.MustCompile(`%[^a-zA-Z%]*([0-9]{4,}|\*)`)
	var errs []error
	check := func(loc *ast.Location, operands []*ast.Term) {
		if len(operands) == 0 {
			return
		}
		format, ok := operands[0].Value.(ast.String)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%s: the format of sprintf must be a string in quotes", at(loc)))
		case wide.MatchString(string(format)):
			errs = append(errs, fmt.Errorf("%s: a width or precision of sprintf has at most three digits", at(loc)))
		}
	}
	for _, name := range sortedNames(modules) {
		walk := ast.NewGenericVisitor(func(node any) bool {
			switch n := node.(type) {
			case *ast.Expr:
				if n.IsCall() && n.Operator().String() == ast.Sprintf.Name {
					check(n.Location, n.Operands())
				}
			case *ast.Term:
				if call, ok := n.Value.(ast.Call); ok && call[0].String() == ast.Sprintf.Name {
					check(n.Location, call[1:])
				}
			}
			return false
		})
		walk.Walk(modules[name])
	}
	return errs
}

func at(loc *ast.Location) string {
	if loc == nil {
		return "?"
	}
	return fmt.Sprintf("%s:%d:%d", loc.File, loc.Row, loc.Col)
}
