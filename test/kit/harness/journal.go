package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"spokeshave.dev/controller/record/journal"
)

// Decisions are the controller's latest, oldest first.
func (s *Stack) Decisions(ctx context.Context) ([]journal.Entry, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.MetricsURL()+"/decisions", nil)
	if err != nil {
		return nil, fmt.Errorf("ask for decisions: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for decisions: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for decisions: %s", resp.Status)
	}
	var out []journal.Entry
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	return out, nil
}
