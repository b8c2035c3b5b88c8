# What every token may do with itself.

# Look up, renew and revoke the token that is used.
path "auth/token/lookup-self" {
    capabilities = ["read"]
}
path "auth/token/renew-self" {
    capabilities = ["update"]
}
path "auth/token/revoke-self" {
    capabilities = ["update"]
}

# Ask what the token may do.
path "sys/capabilities-self" {
    capabilities = ["update"]
}
path "sys/internal/ui/resultant-acl" {
    capabilities = ["read"]
}

# Read the entity behind the token.
path "identity/entity/id/{{identity.entity.id}}" {
    capabilities = ["read"]
}
path "identity/entity/name/{{identity.entity.name}}" {
    capabilities = ["read"]
}

# Look up and renew leases whose id is known.
path "sys/leases/renew" {
    capabilities = ["update"]
}
path "sys/leases/lookup" {
    capabilities = ["update"]
}

# The token's own cubbyhole.
path "cubbyhole/*" {
    capabilities = ["create", "read", "update", "delete", "list"]
}

# Wrap, look up and unwrap responses.
path "sys/wrapping/wrap" {
    capabilities = ["update"]
}
path "sys/wrapping/lookup" {
    capabilities = ["update"]
}
path "sys/wrapping/unwrap" {
    capabilities = ["update"]
}

# Hashing.
path "sys/tools/hash" {
    capabilities = ["update"]
}
path "sys/tools/hash/*" {
    capabilities = ["update"]
}

# Sign in to applications by OpenID Connect.
path "identity/oidc/provider/+/authorize" {
    capabilities = ["read", "update"]
}
