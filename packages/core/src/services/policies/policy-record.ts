import { Timestamp } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** A policy as it is stored, by its lower-case name. */
export const PolicyRecord = Type.Object({
  policy: Type.String(),
  version: Type.Integer({ description: 'Counts the writes, from 1.' }),
  cas_required: Type.Boolean(),
  allow_wildcards_in_identity_templates: Type.Boolean(),
  allow_slashes_in_identity_templates: Type.Boolean(),
  modified: Timestamp,
  /** From then on the policy is as if it were not there. */
  expiration: Type.Optional(Timestamp),
});
export type PolicyRecord = Static<typeof PolicyRecord>;
