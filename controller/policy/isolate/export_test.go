package isolate

import "time"

// Hurried returns a configuration under which a policy's trial may take less time than it
// usually may.
func Hurried(stage, cpu time.Duration) *Config { return &Config{stage: stage, cpu: cpu} }
