package sim

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Bounds on a query request; AWS has none so large that a client meets them.
const (
	maxParameters = 20000
	maxDepth      = 12
	maxListIndex  = 10000
)

// form is the tree behind the dotted parameter names of the query protocols:
// TagSpecification.1.Tag.2.Key is the leaf Key below five inner nodes.
type form struct {
	value string
	leaf  bool
	kids  map[string]*form
}

// parseForm builds the tree. Every parameter may occur once.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Query-Requests.html
func parseForm(values url.Values) (*form, error) {
	if len(values) > maxParameters {
		return nil, failf(codeInvalidQuery, "the request has %d parameters, more than %d", len(values), maxParameters)
	}
	root := &form{}
	for name, given := range values {
		if len(given) != 1 {
			return nil, failf(codeInvalidQuery, "the parameter %s occurs %d times", name, len(given))
		}
		parts := strings.Split(name, ".")
		if len(parts) > maxDepth {
			return nil, failf(codeInvalidQuery, "the parameter %s is nested more than %d deep", name, maxDepth)
		}
		at := root
		for _, part := range parts {
			if part == "" {
				return nil, failf(codeInvalidQuery, "the parameter name %q has an empty part", name)
			}
			at = at.child(part)
		}
		at.value, at.leaf = given[0], true
	}
	return root, nil
}

func (f *form) child(name string) *form {
	if f.kids == nil {
		f.kids = make(map[string]*form)
	}
	kid := f.kids[name]
	if kid == nil {
		kid = &form{}
		f.kids[name] = kid
	}
	return kid
}

// take removes a top-level parameter and gives its value.
func (f *form) take(name string) string {
	kid := f.kids[name]
	if kid == nil {
		return ""
	}
	delete(f.kids, name)
	return kid.value
}

// items are the members of a list in the order of their numbers. A list is
// numbered directly (EC2) or below "member" (IAM, STS).
func (f *form) items(path string) ([]*form, error) {
	if len(f.kids) == 1 && f.kids["member"] != nil {
		f, path = f.kids["member"], path+".member"
	}
	if f.leaf {
		return nil, failf(codeInvalidQuery, "the parameter %s is a list; number its members (%s.1)", path, path)
	}
	numbers := make([]int, 0, len(f.kids))
	byNumber := make(map[int]*form, len(f.kids))
	for name, kid := range f.kids {
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 || n > maxListIndex || strconv.Itoa(n) != name {
			return nil, failf(codeInvalidQuery, "the parameter %s.%s is not a member of a list", path, name)
		}
		numbers = append(numbers, n)
		byNumber[n] = kid
	}
	slices.Sort(numbers)
	out := make([]*form, len(numbers))
	for i, n := range numbers {
		out[i] = byNumber[n]
	}
	return out, nil
}

// fingerprint is a canonical text of the parameters, by which two requests with
// the same client token are compared.
func (f *form) fingerprint() string {
	var b strings.Builder
	f.write(&b, "")
	return b.String()
}

func (f *form) write(b *strings.Builder, path string) {
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
