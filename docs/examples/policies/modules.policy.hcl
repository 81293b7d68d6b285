# Modules: their sources and versions, and the values of their variables.

input "oldest_cluster" {
  type    = string
  default = "3.0.0"
}

locals {
  sources = [
    "./parts/network",
    "modules.example.com/base/queue/google",
    "modules.example.com/base/cluster/google",
    "git::https://git.example.com/parts.git//dns",
  ]
  first_stable = "1.0.0"
}

module_policy "*" "known_source" {
  enforce {
    condition     = core::contains(local.sources, meta.source)
    error_message = "${meta.source} is not one of our modules."
    info_message  = "${meta.address} comes from ${meta.source}."
  }
}

module_policy "*" "stable" {
  enforcement_level = "mandatory"
  filter            = meta.version != null

  locals {
    is_prerelease = core::contains_substring(meta.version, "-")
  }

  enforce {
    condition     = core::semverconstraint(meta.version, ">= ${local.first_stable}") && !local.is_prerelease
    error_message = "Version ${meta.version} is not stable."
  }
}

module_policy "modules.example.com/base/*" "registry" {
  enforcement_level = "advisory"

  enforce {
    condition     = core::startswith(meta.source, "modules.example.com/")
    error_message = "This module should come from our registry."
  }

  enforce {
    condition     = core::semverconstraint(meta.version, ">= 2.1")
    error_message = "This module should have the version 2.1 or a later one."
  }
}

module_policy "modules.example.com/base/cluster/google" "versions" {
  locals {
    at_least = core::semvercmp(meta.version, input.oldest_cluster) >= 0
    below    = core::semvercmp(meta.version, "5.0.0") < 0
  }

  enforce {
    condition     = local.at_least && local.below
    error_message = "The cluster needs a version from ${input.oldest_cluster} to 5.0.0, and not ${meta.version}."
  }
}

module_policy "./parts/network" "range" {
  enforce {
    condition     = core::endswith(attrs.range, "/16")
    error_message = "A network has the size of a /16."
  }
}
