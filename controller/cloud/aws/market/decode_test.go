package market

import (
	"testing"

	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/model"
)

// FuzzParseProduct: whatever a product of the price list says, it has an instance type and a
// price from nothing to MaxPrice, the same each time, or there is an error.
func FuzzParseProduct(f *testing.F) {
	product := func(dimensions string) string {
		return `{"product":{"attributes":{"instanceType":"m5.large"}},"terms":{"OnDemand":{"a":{"priceDimensions":` + dimensions + `}}}}`
	}
	f.Add(product(`{"b":{"unit":"Hrs","pricePerUnit":{"USD":"0.0960000000"}}}`), "USD")
	f.Add(product(`{"b":{"unit":"Hrs","pricePerUnit":{"USD":"1"}},"c":{"unit":"Hrs","pricePerUnit":{"USD":"2"}},"d":{"unit":"Quantity","pricePerUnit":{"USD":"3"}}}`), "USD")
	f.Add(product(`{"b":{"unit":"Hrs","pricePerUnit":{"CNY":"-1"}}}`), "CNY")
	f.Add(product(`{"b":{"unit":"Hrs","pricePerUnit":{"USD":"Inf"}}}`), "USD")
	f.Add(product(`{"b":{"unit":"Hrs","pricePerUnit":{"USD":"1e300"}}}`), "USD")
	f.Add(product(`{"b":{"unit":"Hrs","pricePerUnit":{"USD":"NaN"}}}`), "USD")
	f.Add(`{"terms":[]}`, "USD")
	f.Add(`null`, "USD")
	f.Fuzz(func(t *testing.T, raw, currency string) {
		name, price, err := parseProduct(raw, currency)
		if err != nil {
			if name != "" || price != 0 || err.Error() == "" {
				t.Errorf("%q at %d, and %v", name, price, err)
			}
			return
		}
		if name == "" || price < 0 || price > model.MaxPrice {
			t.Errorf("%q at %d", name, price)
		}
		for range 8 { // maps have no order
			if _, again, err := parseProduct(raw, currency); again != price || err != nil {
				t.Fatalf("%d, then %d: %v", price, again, err)
			}
		}
	})
}

// FuzzParseDiscounts: whatever is in the file, a discount makes a price of each price, and is the
// same after it is written again.
func FuzzParseDiscounts(f *testing.F) {
	for _, text := range []string{
		"discounts:\n- {family: m7i, capacityType: on-demand, share: 0.28}\n- {instanceType: p5.48xlarge, hourlyUSD: 55.04}\n- {share: 0.05}",
		"discounts: [{share: .nan}]", "discounts: [{instanceType: a.b, hourlyUSD: 1e300}]", "discounts: [{instanceType: a.b, hourlyUSD: .inf}]", "discounts: &a [*a]", "discounts: null", "[1]", "discounts: [{share: -0.0}]", "discounts: [{share: 1}]",
	} {
		f.Add(text, int64(96_000))
		f.Add(text, int64(model.MaxPrice))
	}
	f.Fuzz(func(t *testing.T, text string, list int64) {
		got, err := ParseDiscounts([]byte(text))
		if err != nil {
			if got != nil || err.Error() == "" {
				t.Errorf("%+v and %v", got, err)
			}
			return
		}
		price := min(max(model.Price(list), 0), model.MaxPrice)
		for i := range got {
			d := &got[i]
			if billed := d.of(price); billed < 0 || billed > model.MaxPrice || d.Share != nil && billed > price {
				t.Errorf("discount %d makes %d of %d", i+1, billed, price)
			}
		}
		written, err := yaml.Marshal(map[string]any{"discounts": got})
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseDiscounts(written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		if twice, err := yaml.Marshal(map[string]any{"discounts": again}); err != nil || string(twice) != string(written) {
			t.Errorf("%s became %s: %v", written, twice, err)
		}
	})
}
