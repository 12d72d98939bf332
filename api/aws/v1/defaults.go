package v1

// SetDefaults fills the fields that the API server would have filled, for
// manifests that never see one.
func (c *EC2NodeClass) SetDefaults() {
	if c.Spec.MetadataOptions == nil {
		c.Spec.MetadataOptions = &MetadataOptions{}
	}
	o := c.Spec.MetadataOptions
	if o.HTTPEndpoint == nil {
		o.HTTPEndpoint = new("enabled")
	}
	if o.HTTPProtocolIPv6 == nil {
		o.HTTPProtocolIPv6 = new("disabled")
	}
	if o.HTTPPutResponseHopLimit == nil {
		o.HTTPPutResponseHopLimit = new(int64(1))
	}
	if o.HTTPTokens == nil {
		o.HTTPTokens = new("required")
	}
}
