package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// address says what a URL shows. All of it is in the query, at one path: links then
// work behind a proxy that serves the page under a path of its own, and a filter is
// part of the link that one sends to a colleague.
//
//	?view=spend, waiting, nodes, decisions, policies, savings    a list, narrowed by filters
//	?view=namespace, pod, node, nodepool, decision, policy&name= one item
type address struct {
	View string
	// Name is the item's: namespace/name of a pod or policy.
	Name string
	// Query is text to look for. Pod, Node, Pool, Zone, Namespace and Kind narrow lists.
	Query, Pod, Node, Pool, Zone, Namespace, Kind string
	// Page counts from 1 in long lists.
	Page int
}

// overview is the view without a name.
const overview = ""

// lists are the views with a list, in the order of the navigation, and their titles.
func lists() [][2]string {
	return [][2]string{
		{overview, "Overview"},
		{"spend", "Spend"},
		{"waiting", "Waiting pods"},
		{"nodes", "Nodes"},
		{"decisions", "Decisions"},
		{"policies", "Policies"},
		{"savings", "Savings"},
	}
}

// items are the views of one item, and the list that each belongs to.
func items() map[string]string {
	return map[string]string{"namespace": "spend", "pod": "waiting", "node": "nodes", "nodepool": "nodes", "decision": "decisions", "policy": "policies"}
}

// longest is how much of a parameter is read, in bytes.
const longest = 300

// parse reads an address. ok is false when it names no view.
func parse(q url.Values) (a address, ok bool) {
	get := func(name string) string {
		v := strings.TrimSpace(q.Get(name))
		return strings.ToValidUTF8(v[:min(len(v), longest)], "")
	}
	a = address{
		View: get("view"), Name: get("name"), Query: get("q"), Pod: get("pod"), Node: get("node"), Pool: get("pool"),
		Zone: get("zone"), Namespace: get("namespace"), Kind: get("kind"),
	}
	a.Page, _ = strconv.Atoi(q.Get("page"))
	a.Page = min(max(1, a.Page), 10_000)
	if _, item := items()[a.View]; item {
		return a, a.Name != ""
	}
	return a, slices.ContainsFunc(lists(), func(l [2]string) bool { return l[0] == a.View })
}

// String returns the address relative to the page.
func (a address) String() string {
	q := url.Values{}
	for name, value := range map[string]string{
		"view": a.View, "name": a.Name, "q": a.Query, "pod": a.Pod, "node": a.Node, "pool": a.Pool, "zone": a.Zone, "namespace": a.Namespace, "kind": a.Kind,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if a.Page > 1 {
		q.Set("page", strconv.Itoa(a.Page))
	}
	if len(q) == 0 {
		return "./"
	}
	return "./?" + strings.NewReplacer("%2F", "/").Replace(q.Encode())
}

// list returns the list that the address belongs to.
func (a *address) list() string {
	if list, item := items()[a.View]; item {
		return list
	}
	return a.View
}

// to returns the address of an item.
func to(view, name string) string { return address{View: view, Name: name}.String() }

// title is the page's title.
func (a *address) title() string {
	for _, l := range lists() {
		if l[0] == a.View && a.View != overview {
			return l[1] + " · Spokeshave"
		}
	}
	if a.Name != "" {
		return noun(a.View) + " " + a.Name + " · Spokeshave"
	}
	return "Spokeshave"
}

// noun is what an item of a view is called.
func noun(view string) string {
	switch view {
	case "nodepool":
		return "NodePool"
	case "pod", "node":
		return view
	default:
		return strings.ToUpper(view[:1]) + view[1:]
	}
}

// command is the command that explains an item, "" for none.
func command(view, name string) string {
	switch view {
	case "pod", "node", "nodepool":
		return "spokeshave explain " + view + " " + name
	case "policy":
		return "spokeshave policy list"
	default:
		return ""
	}
}
