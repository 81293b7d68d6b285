policytest {
  targets = ["providers.policy.hcl"]
}

provider "google" "good" {
  meta = {
    type      = "google"
    name      = "google"
    namespace = "hashicorp"
    source    = "registry.terraform.io/hashicorp/google"
    version   = "6.2.0"
  }

  attrs = {
    project = "shop"
    region  = input.regions[0]
  }
}

provider "google" "other_source" {
  expect_failure = true

  meta = {
    namespace = "hashicorp"
    source    = "registry.example.com/hashicorp/google"
    version   = "6.2.0"
  }

  attrs = {
    region = "europe-west1"
  }
}

provider "google" "broken" {
  expect_failure = true

  meta = {
    namespace = "hashicorp"
    source    = "registry.terraform.io/hashicorp/google"
    version   = "6.7.4"
  }

  attrs = {
    region = "europe-west1"
  }
}

provider "google" "far" {
  expect_failure = true

  meta = {
    namespace = "hashicorp"
    source    = "registry.terraform.io/hashicorp/google"
    version   = "6.2.0"
  }

  attrs = {
    region = "us-east1"
  }
}

provider "google" "far_allowed" {
  inputs {
    regions = ["us-east1"]
  }

  meta = {
    namespace = "hashicorp"
    source    = "registry.terraform.io/hashicorp/google"
    version   = "6.2.0"
  }

  attrs = {
    region = "us-east1"
  }
}

provider "google" "copies" {
  meta = {
    alias     = "copies"
    namespace = "hashicorp"
    source    = "registry.terraform.io/hashicorp/google"
    version   = "6.2.0"
  }

  attrs = {
    region = "europe-central2"
  }
}

provider "google" "copies_elsewhere" {
  expect_failure = true

  meta = {
    alias     = "copies"
    namespace = "hashicorp"
    source    = "registry.terraform.io/hashicorp/google"
    version   = "6.2.0"
  }

  attrs = {
    region = "europe-west1"
  }
}

provider "hcloud" "good" {
  meta = {
    namespace = "hetznercloud"
    source    = "registry.terraform.io/hetznercloud/hcloud"
    version   = "1.50.0"
  }
}

provider "cloudy" "unknown" {
  expect_failure = true

  meta = {
    namespace = "cloudy"
    source    = "registry.terraform.io/cloudy/cloudy"
    version   = "1.0.0"
  }
}
