package attack

import (
	"cmp"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// attack is one try to do harm. Its name begins with the actor, as docs/security.md
// names them: author, tenant, node, reader, editor, neighbour, account, leader, operator.
type attack struct {
	// story says who does what, want what is expected, and keeps what must not change
	// besides what [guarded] compares for every attack.
	story, want, keeps string
	// launches says that the attacker may get nodes of their own. Without it, no instance
	// may be launched while the attack lasts.
	launches bool
	// restarts says that the attack ends the controller's process on purpose.
	restarts bool
	// refusals says that the API server is started anew, and refuses everybody until it has
	// read its roles.
	refusals bool
	// memory says that the controller may not grow by more than 20 MB.
	memory bool
	run    func(*testing.T)
}

// attacks returns all attacks by name.
func attacks() map[string]attack {
	out := map[string]attack{}
	for _, each := range []map[string]attack{
		authorAttacks(), moduleAttacks(), slowAttacks(), answerAttacks(), tenantAttacks(), trickAttacks(), nodeAttacks(), readerAttacks(), editorAttacks(), statusAttacks(), recordAttacks(),
		neighbourAttacks(), floodAttacks(), accountAttacks(), queueAttacks(), leaderAttacks(), operatorAttacks(),
	} {
		maps.Copy(out, each)
	}
	return out
}

// oneOf is the share of an actor's attacks that run unless ATTACK says otherwise: one of so
// many, and at least one of each actor.
const oneOf = 8

// shareOfTests is the seed of the share that the tests run. It is fixed, so that one commit
// has one result; make attack runs all.
const shareOfTests = "1"

// chosen returns the names of the attacks to run, sorted. ATTACK is "all", or the seed of
// a share.
func chosen(t *testing.T) []string {
	t.Helper()
	names := slices.Sorted(maps.Keys(attacks()))
	which := os.Getenv("ATTACK")
	if which == "all" {
		return names
	}
	if which == "" {
		which = shareOfTests
	}
	t.Logf("a share of one in %d, of seed %s: run it again with ATTACK=%s, all with ATTACK=all", oneOf, which, which)
	return share(names, which)
}

// share returns the attacks of a seed's share, sorted.
func share(names []string, seed string) []string {
	rank := func(name string) uint32 {
		h := fnv.New32a()
		_, _ = h.Write([]byte(seed + "/" + name)) // never fails
		return h.Sum32()
	}
	byActor := map[string][]string{}
	for _, name := range names {
		actor, _, _ := strings.Cut(name, "/")
		byActor[actor] = append(byActor[actor], name)
	}
	var out []string
	for _, of := range byActor {
		slices.SortFunc(of, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
		out = append(out, of[:max(1, len(of)/oneOf)]...)
	}
	slices.Sort(out)
	return out
}

// TestShare: each share has an attack of each actor, and the shares together have all.
func TestShare(t *testing.T) {
	names := slices.Sorted(maps.Keys(attacks()))
	seen := map[string]bool{}
	for seed := range 200 {
		actors := map[string]bool{}
		for _, name := range share(names, strconv.Itoa(seed)) {
			actor, _, _ := strings.Cut(name, "/")
			actors[actor], seen[name] = true, true
		}
		if len(actors) < 9 {
			t.Errorf("seed %d has attacks of %d actors", seed, len(actors))
		}
	}
	if len(seen) < len(names) {
		t.Errorf("200 shares have %d of %d attacks", len(seen), len(names))
	}
}

// TestAttacks makes the attacks of the share, one after the other, and compares after each
// what must not have changed.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	all := attacks()
	for _, name := range chosen(t) {
		t.Run(name, func(t *testing.T) {
			a := all[name]
			t.Logf("story: %s; expected: %s", a.story, a.want)
			before := look(t, &a)
			// What the attack leaves behind is removed before the comparison.
			ok := t.Run("attack", a.run)
			before.compare(t, &a)
			if !ok || t.Failed() {
				t.Logf("must not change: %s", a.keeps)
			}
		})
	}
}

// TestEveryAttackIsTold: there are at least sixty attacks, each with an actor, a story, what
// is expected and what must not change.
func TestEveryAttackIsTold(t *testing.T) {
	all, stories := attacks(), map[string]string{}
	actors := []string{"author", "tenant", "node", "reader", "editor", "neighbour", "account", "leader", "operator"}
	seen := map[string]bool{}
	for name := range all {
		a := all[name]
		actor, _, _ := strings.Cut(name, "/")
		seen[actor] = true
		if !slices.Contains(actors, actor) {
			t.Errorf("%s: %q is no actor", name, actor)
		}
		if a.story == "" || a.want == "" || a.keeps == "" || a.run == nil {
			t.Errorf("%s: story, want, keeps or run is missing", name)
		}
		if other := stories[a.story]; other != "" {
			t.Errorf("%s and %s have one story", name, other)
		}
		stories[a.story] = name
	}
	if len(all) < 60 || len(seen) < len(actors) {
		t.Errorf("%d attacks by %d actors; at least 60 by %d are wanted", len(all), len(seen), len(actors))
	}
}
