package lower

import (
	"fmt"
	"strconv"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// moveCost reads what a move of a pod costs from the NodePool's annotation; nil for none.
func moveCost(np *karpv1.NodePool) (*model.Price, error) {
	text, ok := np.Annotations[karpv1.AnnotationMoveCost]
	if !ok {
		return nil, nil
	}
	usd, err := strconv.ParseFloat(text, 64)
	if err == nil {
		err = checkMoveCost(usd)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %s", text, wantedMoveCost)
	}
	out := model.PriceOf(usd)
	return &out, nil
}

// wantedMoveCost ends the message about a bad one. The highest is [model.MaxPrice].
const wantedMoveCost = "want US dollars an hour, a number from 0 to 1000000"

// checkMoveCost returns an error unless the number of dollars an hour can be what a move
// costs.
func checkMoveCost(usd float64) error {
	if !(usd >= 0 && usd <= model.MaxPrice.USD()) {
		return fmt.Errorf("%v: %s", usd, wantedMoveCost)
	}
	return nil
}
