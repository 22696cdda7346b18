// Package info maps the resources of Terraform's random provider to the types of Pulumi's package random.
package info

import (
	framework "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/terraform-providers/terraform-provider-random/upstream"
)

// Name is the package's name.
const Name = "random"

// Version is set by the linker.
var Version string

var types = map[string]string{
	"random_bytes":    "RandomBytes",
	"random_id":       "RandomId",
	"random_integer":  "RandomInteger",
	"random_password": "RandomPassword",
	"random_pet":      "RandomPet",
	"random_shuffle":  "RandomShuffle",
	"random_string":   "RandomString",
	"random_uuid":     "RandomUuid",
	"random_uuid4":    "RandomUuid4",
	"random_uuid7":    "RandomUuid7",
}

// Provider describes the package to the bridge.
func Provider(metadata []byte) tfbridge.ProviderInfo {
	provider := tfbridge.ProviderInfo{
		P:            framework.ShimProvider(upstream.New()),
		Name:         Name,
		Version:      Version,
		GitHubOrg:    "terraform-providers",
		MetadataInfo: tfbridge.NewProviderMetadata(metadata),
		Resources:    map[string]*tfbridge.ResourceInfo{},
	}
	for resource, name := range types {
		provider.Resources[resource] = &tfbridge.ResourceInfo{Tok: tfbridge.MakeResource(Name, "index", name)}
	}
	return provider
}
