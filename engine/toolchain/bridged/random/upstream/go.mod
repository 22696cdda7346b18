module github.com/terraform-providers/terraform-provider-random/upstream

go 1.26

require (
	github.com/hashicorp/terraform-plugin-framework v1.17.0
	github.com/terraform-providers/terraform-provider-random v1.3.2-0.20260127150608-de3700a633e4
)
