import { termsFor } from '@strongroom/auth-sdk';
import type { IssuedAuth } from '@strongroom/engine-sdk';
import type { TemplateEnvironment } from '@strongroom/go-template';
import type { JsonObject } from '../json/json-pointer.ts';
import { renderPolicies } from '../roles/policy-template.ts';
import type { Role } from '../roles/role.ts';
import { aliasName } from './alias-name.ts';
import { checkBounds } from './bound-claims.ts';
import { groupsIn } from './groups.ts';
import { mappedMetadata } from './metadata.ts';

/** Who presents the claims, and to which role. */
export interface ClaimedLogin {
  readonly roleName: string;
  readonly role: Role;
  readonly claims: JsonObject;
  readonly remoteAddress: string;
  /** What stands between the names of groups where the provider writes them into one text. */
  readonly groupSeparator: string | undefined;
  readonly template: TemplateEnvironment;
}

/** What a role grants for claims that are proven: alias, groups, metadata and policies. @throws BadRequest where the role does not accept them */
export function claimedAuth({ roleName, role, claims, remoteAddress, groupSeparator, template }: ClaimedLogin): IssuedAuth {
  const name = aliasName(claims, role);
  const metadata = { ...mappedMetadata(claims, role.claim_mappings), role: roleName };
  const groupAliases = role.groups_claim === '' ? [] : groupsIn(claims, role.groups_claim, groupSeparator);
  checkBounds(claims, role);
  return {
    displayName: name,
    policies: role.token_policies_template_claims ? renderPolicies(role.token_policies, claims, template) : role.token_policies,
    metadata,
    alias: { name, metadata },
    groupAliases,
    terms: termsFor(role, remoteAddress),
    internal: { role: roleName },
  };
}
