package decision

import (
	"time"

	"spokeshave.dev/controller/core/model"
)

// rolloutWait returns after how long to decide again while pods wait for those of other new
// workloads: when none has come for Idle, the rollout is over. Without such pods it returns
// the usual time.
func (l *Loop) rolloutWait(s *model.Snapshot) time.Duration {
	for i := range s.Pods {
		if held := s.Pods[i].Held; held != nil && held.Code == model.WaitsForRollout {
			return l.Idle
		}
	}
	return l.Every
}
