package app

import (
	"os"

	"spokeshave.dev/controller/record/journal"
)

// decisionLogSize is how large the decision log may grow before it is turned,
// in bytes; one that was turned is kept.
const decisionLogSize = 256 << 20

// decisionLog opens the log that the settings name, nil for none.
func decisionLog(o *Options) (*journal.Log, error) {
	log := &journal.Log{Inputs: o.DecisionLogInputs, Namespace: o.Namespace}
	switch o.DecisionLog {
	case "":
		return nil, nil
	case "-":
		log.To = os.Stdout
	default:
		file, err := journal.OpenFile(o.DecisionLog, decisionLogSize)
		if err != nil {
			return nil, err
		}
		log.To = file
	}
	return journal.NewLog(log), nil
}
