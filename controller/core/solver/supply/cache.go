package supply

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	"spokeshave.dev/controller/core/model"
)

// maxPrepared is how many tables a cache keeps, those used last. Tables of a decision
// differ in the resources and label values that pods ask for, and in denials and
// blocks; more than a few combinations are rare.
const maxPrepared = 8

// Cache keeps the tables of one decision, so that further solves of it find them:
// every simulation of a disruption is one. What a solve finds does not depend on what
// is kept.
//
// Catalogues, DaemonSets and costs of questions to a cache must not change in place.
// A cache may be asked for a table that it has by several goroutines at the same time, but
// a table is lowered by one before others ask for it; nil keeps nothing.
type Cache struct {
	lock sync.Mutex
	kept []*Table
}

// NewCache returns a cache without tables.
func NewCache() *Cache { return &Cache{} }

// Find returns the table of a question for pods of some specs. isNew says that it
// has to be lowered before it is used.
func (k *Cache) Find(in *Question, specs []int32) (p *Table, isNew bool) {
	p = newTable(in, specs)
	if k == nil {
		return p, true
	}
	k.lock.Lock()
	defer k.lock.Unlock()
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

// same says whether both tables are lowered from the same facts.
func (p *Table) same(o *Table) bool {
	return sameSlice(p.snap.Catalogs, o.snap.Catalogs) && sameSlice(p.snap.Daemons, o.snap.Daemons) &&
		p.snap.Settings == o.snap.Settings && sameSlice(p.costs, o.costs) && slices.Equal(p.denied, o.denied) &&
		slices.EqualFunc(p.blocked, o.blocked, func(a, b *model.Reason) bool { return (a == nil) == (b == nil) }) &&
		slices.Equal(p.Dims.Names, o.Dims.Names) && slices.Equal(p.Dims.Rare, o.Dims.Rare) &&
		maps.EqualFunc(p.mentioned, o.mentioned, slices.Equal) &&
		slices.EqualFunc(p.snap.Pools, o.snap.Pools, samePool)
}

// samePool compares pools but for their usage, on which tables do not depend.
func samePool(a, b model.Pool) bool {
	a.Usage, b.Usage = nil, nil
	return reflect.DeepEqual(a, b)
}

// sameSlice says whether two slices share their elements.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
