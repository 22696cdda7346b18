// The provider of Pulumi's package random: Terraform's random provider behind Pulumi's bridge. The two embedded files
// are written by ../schema, which `claimsmith toolchain install` runs before it builds this.
package main

import (
	"context"
	_ "embed"

	"claimsmith.invalid/toolchain/bridged/random/info"
	"claimsmith.invalid/toolchain/bridged/serve"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
)

//go:embed schema.json
var schema []byte

//go:embed bridge-metadata.json
var metadata []byte

func main() {
	serve.EndWithEngine()
	described := tfbridge.ProviderMetadata{PackageSchema: schema}
	tfbridge.Main(context.Background(), info.Name, info.Provider(metadata), described)
}
