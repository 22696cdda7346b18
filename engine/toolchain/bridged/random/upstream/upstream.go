// Package upstream reaches the provider in an internal folder of Terraform's random provider: only a module whose path
// is below that one's may import it, hence its name.
package upstream

import (
	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/terraform-providers/terraform-provider-random/internal/provider"
)

// New is the provider as its own program serves it.
func New() framework.Provider {
	return provider.New()
}
