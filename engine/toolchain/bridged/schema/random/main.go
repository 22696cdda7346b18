// Writes the schema of the package random, which its provider embeds.
package main

import (
	"claimsmith.invalid/toolchain/bridged/random/info"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfgen"
)

func main() {
	tfgen.Main(info.Name, info.Provider([]byte("{}")))
}
