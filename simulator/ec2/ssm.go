package sim

import (
	"strings"
	"time"
)

func ssmOperations() map[string]operation {
	return map[string]operation{
		"GetParameter":        takesJSON(getParameter),
		"GetParameters":       takesJSON(getParameters),
		"GetParametersByPath": takesJSON(getParametersByPath),
	}
}

type parameter struct {
	Name     string
	Type     string
	Value    string
	Version  int
	Modified float64 `json:"LastModifiedDate"`
	ARN      string
	DataType string
}

func (s *Server) parameter(name string) (parameter, bool) {
	value, ok := s.state.parameters[name]
	published := releases()[len(releases())-1].day
	return parameter{
		name, "String", value, 1, float64(published.UnixMilli()) / float64(time.Second/time.Millisecond),
		"arn:aws:ssm:" + s.cfg.Region + "::parameter" + name, "aws:ec2:image",
	}, ok
}

type parameterRequest struct {
	Name           string
	WithDecryption bool
}

// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
func getParameter(s *Server, _ *call, in *parameterRequest) (any, error) {
	if in.Name == "" || len(in.Name) > 2048 {
		return nil, failf("ValidationException", "1 validation error detected: Value at 'name' must have length between 1 and 2048")
	}
	p, ok := s.parameter(in.Name)
	if !ok {
		return nil, failf("ParameterNotFound", "Parameter %s not found.", in.Name)
	}
	return map[string]any{"Parameter": p}, nil
}

type parametersRequest struct {
	Names          []string
	WithDecryption bool
}

// getParameters answers for up to ten parameters; names that do not exist are
// listed apart.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameters.html
func getParameters(s *Server, _ *call, in *parametersRequest) (any, error) {
	if len(in.Names) < 1 || len(in.Names) > 10 {
		return nil, failf("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and 10")
	}
	found, unknown := []parameter{}, []string{}
	for _, name := range in.Names {
		if p, ok := s.parameter(name); ok {
			found = append(found, p)
		} else {
			unknown = append(unknown, name)
		}
	}
	return map[string]any{"Parameters": found, "InvalidParameters": unknown}, nil
}

type byPathRequest struct {
	Path           string
	Recursive      bool
	WithDecryption bool
	MaxResults     *int
	NextToken      string
}

// getParametersByPath lists the parameters below a path, ten at a time.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParametersByPath.html
func getParametersByPath(s *Server, _ *call, in *byPathRequest) (any, error) {
	if !strings.HasPrefix(in.Path, "/") {
		return nil, failf("ValidationException", "The parameter path must begin with /")
	}
	prefix := strings.TrimSuffix(in.Path, "/") + "/"
	all := []parameter{}
	for _, name := range sortedKeys(s.state.parameters) {
		rest, below := strings.CutPrefix(name, prefix)
		if below && (in.Recursive || !strings.Contains(rest, "/")) {
			p, _ := s.parameter(name)
			all = append(all, p)
		}
	}
	ten := 10
	if in.MaxResults == nil {
		in.MaxResults = &ten
	}
	items, next, err := page(all, paged{in.MaxResults, in.NextToken}, 1, 10)
	if err != nil {
		return nil, failf("ValidationException", "%s", failureOf(err).Message)
	}
	out := map[string]any{"Parameters": items}
	if next != "" {
		out["NextToken"] = next
	}
	return out, nil
}
