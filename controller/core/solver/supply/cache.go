package supply

import (
	"maps"
	"reflect"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// maxPrepared is how many offerings are kept, those used last. The simulations of a
// search differ in the resources and label values that the moving pods ask for;
// more than a few combinations are rare.
const maxPrepared = 8

// Cache keep what solves have lowered of catalogues, NodePools and policies'
// answers, so that further solves find it: those of one decision, among them every
// simulation of a disruption. What a solve finds does not depend on what is kept.
//
// Inputs with the same Offerings must not change catalogues, DaemonSets or Costs in
// place. Offerings are not safe for concurrent use.
type Cache struct {
	kept []*Table
}

// NewCache keeps nothing yet.
func NewCache() *Cache { return &Cache{} }

// Find returns the table of a question for pods of some specs. isNew says that it
// has to be lowered before it is used.
func (k *Cache) Find(in *Question, specs []int32) (p *Table, isNew bool) {
	p = newTable(in, specs)
	if k == nil {
		return p, true
	}
	at := slices.IndexFunc(k.kept, p.same)
	if at >= 0 {
		p = k.kept[at]
		k.kept = slices.Delete(k.kept, at, at+1)
	}
	k.kept = slices.Insert(k.kept, 0, p)
	if len(k.kept) > maxPrepared {
		k.kept = slices.Delete(k.kept, maxPrepared, len(k.kept))
	}
	return p, at < 0
}

// same says whether the offerings are lowered from the same facts.
func (p *Table) same(o *Table) bool {
	return sameSlice(p.snap.Catalogs, o.snap.Catalogs) && sameSlice(p.snap.Daemons, o.snap.Daemons) &&
		p.snap.Settings == o.snap.Settings && sameSlice(p.costs, o.costs) && slices.Equal(p.denied, o.denied) &&
		slices.EqualFunc(p.blocked, o.blocked, func(a, b *model.Reason) bool { return (a == nil) == (b == nil) }) &&
		slices.Equal(p.Dims.Names, o.Dims.Names) && maps.Equal(p.Dims.Overflow, o.Dims.Overflow) &&
		maps.EqualFunc(p.mentioned, o.mentioned, slices.Equal) &&
		slices.EqualFunc(p.snap.Pools, o.snap.Pools, samePool)
}

// samePool compares pools but for their usage, which offerings do not depend on.
func samePool(a, b model.Pool) bool {
	a.Usage, b.Usage = nil, nil
	return reflect.DeepEqual(a, b)
}

// sameSlice says whether two slices share their elements.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
