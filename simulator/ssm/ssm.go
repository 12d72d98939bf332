// Package ssm is the reading half of SSM's parameter store, with public
// parameters that name machine images.
package ssm

import (
	"maps"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
)

// Service is the parameter store of one region.
type Service struct {
	region    string
	values    map[string]string
	published time.Time
}

// New is a parameter store that holds values, all published at one time. The
// caller does not change the map afterwards.
func New(region string, values map[string]string, published time.Time) *Service {
	return &Service{region: region, values: values, published: published}
}

// Operations are the actions that this service answers.
func (s *Service) Operations() map[string]operation.Operation {
	return map[string]operation.Operation{
		"GetParameter":        operation.JSON(s.getParameter),
		"GetParameters":       operation.JSON(s.getParameters),
		"GetParametersByPath": operation.JSON(s.getParametersByPath),
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

func (s *Service) parameter(name string) (parameter, bool) {
	value, ok := s.values[name]
	return parameter{
		name, "String", value, 1, float64(s.published.UnixMilli()) / float64(time.Second/time.Millisecond),
		"arn:aws:ssm:" + s.region + "::parameter" + name, "aws:ec2:image",
	}, ok
}

type parameterRequest struct {
	Name           string
	WithDecryption bool
}

// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
func (s *Service) getParameter(_ *operation.Call, in *parameterRequest) (any, error) {
	if in.Name == "" || len(in.Name) > 2048 {
		return nil, awserr.New("ValidationException", "1 validation error detected: Value at 'name' must have length between 1 and 2048")
	}
	p, ok := s.parameter(in.Name)
	if !ok {
		return nil, awserr.New("ParameterNotFound", "Parameter %s not found.", in.Name)
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
func (s *Service) getParameters(_ *operation.Call, in *parametersRequest) (any, error) {
	if len(in.Names) < 1 || len(in.Names) > 10 {
		return nil, awserr.New("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and 10")
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
func (s *Service) getParametersByPath(_ *operation.Call, in *byPathRequest) (any, error) {
	if !strings.HasPrefix(in.Path, "/") {
		return nil, awserr.New("ValidationException", "The parameter path must begin with /")
	}
	prefix := strings.TrimSuffix(in.Path, "/") + "/"
	all := []parameter{}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
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
	items, next, err := listing.Page(all, listing.Paging{MaxResults: in.MaxResults, NextToken: in.NextToken}, 1, 10)
	if err != nil {
		return nil, awserr.New("ValidationException", "%s", awserr.Of(err).Message)
	}
	out := map[string]any{"Parameters": items}
	if next != "" {
		out["NextToken"] = next
	}
	return out, nil
}
