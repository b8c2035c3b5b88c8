# Terraform 1.5 or newer, or OpenTofu, with the provider hashicorp/vault 5. VAULT_ADDR and VAULT_TOKEN say where and who; the provider makes a child token for
# each run. The state holds what the configuration holds: keep secrets out of it, or encrypt it.
terraform {
  required_providers {
    vault = {
      source  = "hashicorp/vault"
      version = "~> 5.0"
    }
  }
}

provider "vault" {}

resource "vault_mount" "apps" {
  path        = "apps"
  type        = "kv"
  options     = { version = "2" }
  description = "Secrets of applications"
}

resource "vault_policy" "shop" {
  name   = "shop"
  policy = <<-EOT
    path "apps/data/shop/*" { capabilities = ["read"] }
  EOT
}

resource "vault_auth_backend" "approle" {
  type = "approle"
  path = "machines"
}

resource "vault_approle_auth_backend_role" "shop" {
  backend        = vault_auth_backend.approle.path
  role_name      = "shop"
  token_policies = [vault_policy.shop.name]
  token_ttl      = 3600
}

resource "vault_kv_secret_v2" "flags" {
  mount     = vault_mount.apps.path
  name      = "shop/flags"
  data_json = jsonencode({ theme = "dark" })
}
