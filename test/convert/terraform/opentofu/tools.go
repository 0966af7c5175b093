// Package tools names the program that runs the commands of an import from Terraform, so that go.mod and go.sum pin it.
//go:build tools

package tools

import _ "github.com/opentofu/opentofu/cmd/tofu"
