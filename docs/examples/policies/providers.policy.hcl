# Providers: their sources, versions and arguments.

input "regions" {
  type        = list(string)
  description = "Where objects may be"
  default     = ["europe-west1", "europe-north1"]
}

locals {
  oldest = ">= 6.0.0"
}

provider_policy "google" "version" {
  enforcement_level = "mandatory"

  locals {
    is_new    = core::semverconstraint(meta.version, local.oldest)
    is_broken = core::semvercmp(meta.version, "6.7.0") >= 0 && core::semvercmp(meta.version, "6.8.0") < 0
  }

  enforce {
    condition     = meta.source == "registry.terraform.io/hashicorp/google"
    error_message = "${meta.source} is not the provider of Google Cloud."
  }

  enforce {
    condition     = local.is_new && !local.is_broken
    error_message = "Version ${meta.version} is too old or broken."
    info_message  = "${meta.name} has the version ${meta.version}."
  }
}

provider_policy "google" "default_region" {
  filter = meta.alias == null

  enforce {
    condition     = core::contains(input.regions, attrs.region)
    error_message = "The region is one of ${core::join(", ", input.regions)}."
  }
}

provider_policy "google" "region_of_copies" {
  filter = meta.alias == "copies"

  enforce {
    condition     = attrs.region == "europe-central2"
    error_message = "Copies are in europe-central2."
  }
}

provider_policy "*" "namespace" {
  enforce {
    condition     = core::contains(["hashicorp", "hetznercloud"], core::split("/", meta.source)[1])
    error_message = "The provider ${meta.source} is not allowed."
  }

  enforce {
    condition     = core::contains(["hashicorp", "hetznercloud"], meta.namespace)
    error_message = "The namespace ${meta.namespace} is not allowed."
  }
}
