import { BadRequest, type HeldPolicies } from '@strongroom/engine-sdk';
import { globMatches } from '@strongroom/go-template';
import { policySet } from './policy-set.ts';
import type { TokenRole } from './token-role.ts';

/** What a new token's policies are decided by. */
export interface PolicyOrder {
  /** As the caller sent them. */
  readonly asked: readonly string[] | undefined;
  /** Policies of the calling token itself. Those of its entity do not count: they can be taken from it later. */
  readonly own: readonly string[];
  /** The operator's word that the caller may name any policy but root. */
  readonly sudo: boolean;
  readonly noDefault: boolean;
}

/** Policies of a token that no role decides: at most the caller's. @throws BadRequest */
export function ownPolicies({ asked: sent, own, sudo, noDefault }: PolicyOrder): string[] {
  const asked = policySet(sent ?? [], true);
  if (asked.length === 0) {
    const inherited = own.filter((name) => !(noDefault && name === 'default'));
    return inherited.includes('root') ? ['root'] : inherited;
  }
  if (asked.includes('root')) {
    if (!own.includes('root')) {
      if (sudo) throw new BadRequest('root tokens may not be created without parent token being root');
      throw new BadRequest(BEYOND_PARENT);
    }
    return ['root'];
  }
  return withinOwn(asked, { own, sudo, noDefault });
}

/** Every policy asked for must be allowed by the role and not disallowed by it; asked for none, the role's own are given. @throws BadRequest */
export function rolePolicies({ asked: sent, own, sudo, noDefault }: PolicyOrder, role: TokenRole): string[] {
  const allowed = role.allowed_policies;
  const globs = role.allowed_policies_glob;
  const named = allowed.length > 0 || globs.length > 0;
  const disallowed = (name: string): boolean => isDisallowed(role, name);
  const withoutDefault = noDefault || disallowed('default');
  let asked = policySet(sent ?? [], true);
  if (asked.length === 0) asked = named ? policySet(allowed, true) : own.filter((name) => name !== 'root');
  const wanted = named ? policySet(asked, withoutDefault) : withinOwn(asked, { own, sudo, noDefault: withoutDefault });
  if (named) {
    const known = policySet(allowed, withoutDefault);
    if (wanted.some((name) => !known.includes(name) && !globs.some((glob) => globMatches(glob, name)))) {
      throw new BadRequest(
        `token policies (${goList(asked)}) must be subset of the role's allowed policies (${goList(known)}) or glob policies (${goList(globs)})`,
      );
    }
  }
  for (const name of wanted) if (disallowed(name)) throw new BadRequest(`token policy ${JSON.stringify(name)} is disallowed by this role`);
  return wanted.includes('root') ? ['root'] : wanted;
}

/** What tokens of a role can have: nothing of its own where it names no policies. Those of globs are given when they are asked for. */
export function heldByRole(role: TokenRole): HeldPolicies {
  const { allowed_policies: allowed, allowed_policies_glob: globs } = role;
  const disallowed = (name: string): boolean => isDisallowed(role, name);
  return {
    policies: allowed.filter((name) => !disallowed(name)),
    withDefault: (allowed.length > 0 || globs.length > 0) && !role.token_no_default_policy && !disallowed('default'),
    ...(globs.length === 0 ? {} : { mayGive: (policy) => !disallowed(policy) && globs.some((glob) => globMatches(glob, policy)) }),
  };
}

function isDisallowed(role: TokenRole, name: string): boolean {
  return role.disallowed_policies.includes(name) || role.disallowed_policies_glob.some((glob) => globMatches(glob, name));
}

const BEYOND_PARENT = 'child policies must be subset of parent';

/** `default` is added only for a caller who has it to give. @throws BadRequest for a policy that the caller lacks */
function withinOwn(asked: readonly string[], { own, sudo, noDefault }: Omit<PolicyOrder, 'asked'>): string[] {
  const free = sudo || own.includes('root');
  const wanted = policySet(asked, noDefault || (!free && !own.includes('default')));
  if (!free && wanted.some((name) => !own.includes(name))) throw new BadRequest(BEYOND_PARENT);
  return wanted;
}

function goList(names: readonly string[]): string {
  return `[${names.map((name) => JSON.stringify(name)).join(' ')}]`;
}
