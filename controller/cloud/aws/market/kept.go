package market

import "spokeshave.dev/controller/core/model"

// kept are the last catalogues of all classes. A catalogue takes about 3 MB, so that
// classes of equal inputs share one, and one that no class has any more is dropped. The
// zero value is ready. It is not safe for concurrent use.
type kept struct {
	// keys are what the last catalogue of each class was made from, by class.
	keys map[string]string
	// catalogues are by that key. None is without a class.
	catalogues map[string]*sharedCatalogue
}

// sharedCatalogue is a catalogue and the number of classes that have it.
type sharedCatalogue struct {
	catalog model.Catalog
	classes int
}

// find returns the catalogue that was made from the key for any class. From then on the
// class has it, in place of the one that it had.
func (k *kept) find(class, key string) (model.Catalog, bool) {
	found := k.catalogues[key]
	if found == nil {
		return model.Catalog{}, false
	}
	out := found.catalog
	k.store(class, key, out)
	return out, true
}

// store keeps a catalogue for a class in place of the one that it had.
func (k *kept) store(class, key string, catalog model.Catalog) {
	if k.keys[class] == key && k.catalogues[key] != nil {
		return
	}
	k.forget(class)
	if k.keys == nil {
		k.keys, k.catalogues = map[string]string{}, map[string]*sharedCatalogue{}
	}
	if k.catalogues[key] == nil {
		k.catalogues[key] = &sharedCatalogue{catalog: catalog}
	}
	k.catalogues[key].classes++
	k.keys[class] = key
}

// forget drops what is kept for a class.
func (k *kept) forget(class string) {
	key, ok := k.keys[class]
	if !ok {
		return
	}
	delete(k.keys, class)
	if shared := k.catalogues[key]; shared.classes > 1 {
		shared.classes--
	} else {
		delete(k.catalogues, key)
	}
}
