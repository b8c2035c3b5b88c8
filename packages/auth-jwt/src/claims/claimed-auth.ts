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
import { unreported, type StepRunner } from './step.ts';

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
export function claimedAuth(login: ClaimedLogin, run: StepRunner = unreported): IssuedAuth & { readonly groupAliases: readonly string[] } {
  const { roleName, role, claims, remoteAddress, groupSeparator, template } = login;
  const name = run(
    'user claim',
    () => aliasName(claims, role),
    (found) => ({ name: found }),
  );
  const metadata = { ...run('mapping', () => mappedMetadata(claims, role.claim_mappings)), role: roleName };
  const groups = (): string[] => (role.groups_claim === '' ? [] : groupsIn(claims, role.groups_claim, groupSeparator));
  const groupAliases = run('groups', groups, ({ length: count }) => ({ count }));
  run('bound claims', () => checkBounds(claims, role));
  const policies = run(
    'policies',
    () => policiesOf(role, claims, template),
    ({ length: count }) => ({ count }),
  );
  return {
    displayName: name,
    policies,
    metadata,
    alias: { name, metadata },
    groupAliases,
    terms: termsFor(role, remoteAddress),
    internal: { role: roleName },
  };
}

function policiesOf(role: Role, claims: JsonObject, template: TemplateEnvironment): readonly string[] {
  return role.token_policies_template_claims ? renderPolicies(role.token_policies, claims, template) : role.token_policies;
}
