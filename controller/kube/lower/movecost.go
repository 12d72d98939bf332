package lower

import (
	"fmt"
	"math"
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
		return nil, fmt.Errorf("%q: want US dollars an hour, a number of at least 0", text)
	}
	out := model.PriceOf(usd)
	return &out, nil
}

// checkMoveCost returns an error unless the number of dollars an hour can be what a move
// costs.
func checkMoveCost(usd float64) error {
	if !(usd >= 0) || math.IsInf(usd, 1) {
		return fmt.Errorf("%v: want US dollars an hour, a number of at least 0", usd)
	}
	return nil
}
