import { Type, type Static } from 'typebox';

/** A policy as it is stored, by its lower-case name. */
export const PolicyRecord = Type.Object({
  policy: Type.String(),
  /** Counts the writes, from 1. */
  version: Type.Integer(),
  cas_required: Type.Boolean(),
  allow_wildcards_in_identity_templates: Type.Boolean(),
  allow_slashes_in_identity_templates: Type.Boolean(),
  /** RFC 3339. */
  modified: Type.String(),
  /** RFC 3339; from then on the policy is as if it were not there. */
  expiration: Type.Optional(Type.String()),
});
export type PolicyRecord = Static<typeof PolicyRecord>;
