// The provider of Pulumi's package postgresql: Terraform's PostgreSQL provider behind Pulumi's bridge. The two embedded
// files are written by ../schema, which `claimsmith toolchain install` runs before it builds this.
package main

import (
	_ "embed"

	"claimsmith.invalid/toolchain/bridged/postgresql/info"
	"claimsmith.invalid/toolchain/bridged/serve"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
)

//go:embed schema.json
var schema []byte

//go:embed bridge-metadata.json
var metadata []byte

func main() {
	serve.EndWithEngine()
	tfbridge.Main(info.Name, info.Version, info.Provider(metadata), schema)
}
