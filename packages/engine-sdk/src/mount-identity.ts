/** How outside systems know a mount: what a trust policy compares with a token. */
export interface IdentityClaims {
  /** `iss`: outside systems find the keys at `<issuer>/.well-known/openid-configuration`, without a token. */
  readonly issuer: string;
  /**
   * `sub`: `plugin-identity:root:<secret or auth>:<accessor of the mount>`, with `:<part>` at its end if a part was named. A mount of the server's own has its path,
   * such as `sys/sync`, in the place of the accessor.
   */
  readonly subject: string;
}

/** A token to sign. */
export interface IdentityTokenOrder {
  /** `aud`: who is to accept the token, such as `sts.amazonaws.com`. */
  readonly audience: string;
  /** The named key of `identity/oidc/key` that signs; `default` if absent or empty. */
  readonly key?: string;
  /** Seconds; the token is good for at most the `verification_ttl` of the key. */
  readonly ttl: number;
  /** The part of the mount that uses the token, such as one destination. Its name in the subject lets others trust it alone. */
  readonly part?: string;
}

/** A signed JSON Web Token. It is a secret until it ends. */
export interface IdentityToken extends IdentityClaims {
  readonly token: string;
  /** Seconds for which it is good. */
  readonly ttl: number;
}

/**
 * The identity of a mount towards clouds and others that trust the server as an OpenID Connect issuer, in place of a stored credential. The core sets issuer and
 * subject, so no mount can speak for another one. Users of the server cannot obtain such a token: those of `identity/oidc/token` have another issuer.
 */
export interface MountIdentity {
  /** What tokens of this mount, or of a part of it, say. @throws BadRequest while the server has no address that others reach. */
  claims(part?: string): Promise<IdentityClaims>;
  /** Signs a token; none is stored. @throws BadRequest for an unknown key, and while the server has no address that others reach. */
  token(order: IdentityTokenOrder): Promise<IdentityToken>;
}
