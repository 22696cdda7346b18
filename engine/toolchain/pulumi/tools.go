//go:build tools

// Package tools names what is built from this module: the engine. It needs newer dependencies than the released
// Kubernetes provider and kube-apiserver compile with, hence a module of its own.
package tools

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
