// Writes the schema of the package postgresql, which its provider embeds.
package main

import (
	"claimsmith.invalid/toolchain/bridged/postgresql/info"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfgen"
)

func main() {
	tfgen.Main(info.Name, info.Version, info.Provider([]byte("{}")))
}
