package query

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/simulator/awserr"
)

// Bounds on a query request; AWS has none so large that a client meets them.
const (
	maxParameters = 20000
	maxDepth      = 12
	maxListIndex  = 10000
)

// Form is the tree behind the dotted parameter names of the query protocols:
// TagSpecification.1.Tag.2.Key is the leaf Key below five inner nodes.
type Form struct {
	value string
	leaf  bool
	kids  map[string]*Form
}

// Parse builds the tree. Every parameter may occur once.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Query-Requests.html
func Parse(values url.Values) (*Form, error) {
	if len(values) > maxParameters {
		return nil, awserr.New(awserr.InvalidQuery, "the request has %d parameters, more than %d", len(values), maxParameters)
	}
	root := &Form{}
	for name, given := range values {
		if len(given) != 1 {
			return nil, awserr.New(awserr.InvalidQuery, "the parameter %s occurs %d times", name, len(given))
		}
		parts := strings.Split(name, ".")
		if len(parts) > maxDepth {
			return nil, awserr.New(awserr.InvalidQuery, "the parameter %s is nested more than %d deep", name, maxDepth)
		}
		at := root
		for _, part := range parts {
			if part == "" {
				return nil, awserr.New(awserr.InvalidQuery, "the parameter name %q has an empty part", name)
			}
			at = at.child(part)
		}
		at.value, at.leaf = given[0], true
	}
	return root, nil
}

func (f *Form) child(name string) *Form {
	if f.kids == nil {
		f.kids = make(map[string]*Form)
	}
	kid := f.kids[name]
	if kid == nil {
		kid = &Form{}
		f.kids[name] = kid
	}
	return kid
}

// Take removes a top-level parameter and gives its value, empty when it is not
// there.
func (f *Form) Take(name string) string {
	value := f.Text(name)
	delete(f.kids, name)
	return value
}

// items are the members of a list in the order of their numbers. A list is
// numbered directly (EC2) or below "member" (IAM, STS).
func (f *Form) items(path string) ([]*Form, error) {
	if len(f.kids) == 1 && f.kids["member"] != nil {
		f, path = f.kids["member"], path+".member"
	}
	if f.leaf {
		return nil, awserr.New(awserr.InvalidQuery, "the parameter %s is a list; number its members (%s.1)", path, path)
	}
	numbers := make([]int, 0, len(f.kids))
	byNumber := make(map[int]*Form, len(f.kids))
	for name, kid := range f.kids {
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 || n > maxListIndex || strconv.Itoa(n) != name {
			return nil, awserr.New(awserr.InvalidQuery, "the parameter %s.%s is not a member of a list", path, name)
		}
		numbers = append(numbers, n)
		byNumber[n] = kid
	}
	slices.Sort(numbers)
	out := make([]*Form, len(numbers))
	for i, n := range numbers {
		out[i] = byNumber[n]
	}
	return out, nil
}

// Fingerprint is a canonical text of the parameters, by which two requests with
// the same client token are compared.
func (f *Form) Fingerprint() string {
	var b strings.Builder
	f.write(&b, "")
	return b.String()
}

func (f *Form) write(b *strings.Builder, path string) {
	if f.leaf {
		fmt.Fprintf(b, "%q=%q\n", path, f.value)
	}
	names := make([]string, 0, len(f.kids))
	for name := range f.kids {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f.kids[name].write(b, path+"."+name)
	}
}

// At is the subtree below a top-level parameter; nil when there is none.
func (f *Form) At(name string) *Form { return f.kids[name] }

// Overlay is below with the members of above in place of its own.
func Overlay(below, above *Form) *Form {
	out := &Form{kids: make(map[string]*Form)}
	maps.Copy(out.kids, below.kids)
	maps.Copy(out.kids, above.kids)
	return out
}

// Without is a copy that lacks one top-level parameter.
func (f *Form) Without(name string) *Form {
	out := &Form{value: f.value, leaf: f.leaf, kids: maps.Clone(f.kids)}
	delete(out.kids, name)
	return out
}

// Text is the value of a top-level parameter, empty when it is not there.
func (f *Form) Text(name string) string {
	if kid := f.kids[name]; kid != nil {
		return kid.value
	}
	return ""
}

// Len is the number of members.
func (f *Form) Len() int { return len(f.kids) }
