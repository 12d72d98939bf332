package sim

func stsOperations() map[string]operation {
	return map[string]operation{"GetCallerIdentity": writes(callerIdentity)}
}

// https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
func callerIdentity(s *Server, _ *call, _ *struct{}) (any, error) {
	return struct {
		ARN     string `xml:"Arn"`
		UserID  string `xml:"UserId"`
		Account string `xml:"Account"`
	}{"arn:aws:sts::" + s.cfg.Account + ":assumed-role/controller/ec2sim", "AROASIMULATED:ec2sim", s.cfg.Account}, nil
}
