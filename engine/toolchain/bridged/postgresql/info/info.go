// Package info maps the resources of Terraform's PostgreSQL provider to the types of Pulumi's package postgresql.
package info

import (
	"github.com/hashicorp/terraform-plugin-sdk/helper/schema"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	shim "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v1"
	"github.com/terraform-providers/terraform-provider-postgresql/postgresql"
)

// Name is the package's name.
const Name = "postgresql"

// Version is set by the linker.
var Version string

var types = map[string]string{
	"postgresql_database":           "Database",
	"postgresql_default_privileges": "DefaultPrivileges",
	"postgresql_extension":          "Extension",
	"postgresql_grant":              "Grant",
	"postgresql_role":               "Role",
	"postgresql_schema":             "Schema",
}

// Provider describes the package to the bridge.
func Provider(metadata []byte) tfbridge.ProviderInfo {
	provider := tfbridge.ProviderInfo{
		P:            shim.NewProvider(postgresql.Provider().(*schema.Provider)),
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
