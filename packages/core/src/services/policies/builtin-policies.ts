import { createHash } from 'node:crypto';

/** In every store from the start, and free to be edited: what any token may do with itself. */
export const DEFAULT_POLICY = `# What every token may do with itself.

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

# Ask what the token may do, and why not.
path "sys/capabilities-self" {
    capabilities = ["update"]
}
path "sys/policies/explain-self" {
    capabilities = ["update"]
}
path "sys/internal/ui/resultant-acl" {
    capabilities = ["read"]
}

# Find things by name among those that the token may list.
path "sys/internal/ui/search" {
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

# End the token's own leases, one by one.
path "sys/leases/revoke-own" {
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
`;

/** Digests (SHA-256) of the texts that earlier versions wrote as the `default` policy. A text that was released stays in this list. */
const FORMER_DEFAULTS: ReadonlySet<string> = new Set([
  'f9ac22e597ea30f06ca30954dd974a22877bb497ab0364256b5b65fffcdf68a9', // 0.1.0
]);

/** Whether nobody has edited this `default` policy since an earlier version wrote it. */
export function isFormerDefault(text: string): boolean {
  return FORMER_DEFAULTS.has(createHash('sha256').update(text).digest('hex'));
}

/** What a wrapping token has, and nothing else. */
export const RESPONSE_WRAPPING_POLICY = `path "cubbyhole/response" {
    capabilities = ["create", "read"]
}
path "sys/wrapping/unwrap" {
    capabilities = ["update"]
}
`;

/** Not stored: `root` is everything, the others belong to the core and are in no list. */
export const VIRTUAL_POLICIES: ReadonlyMap<string, string> = new Map([
  ['root', ''],
  ['response-wrapping', RESPONSE_WRAPPING_POLICY],
]);

/** Names that nobody may write. `control-group` is Vault's and OpenBao's, and stays free of meaning here. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(['root', 'response-wrapping', 'control-group']);
