import {
  BadRequest,
  defaultTokenParameters,
  f,
  mergeTokenParameters,
  TokenParameters,
  tokenFields,
  TokenRefused,
  tokenTerms,
  withinCidrs,
  type RenewedAuth,
  type TokenTerms,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** Earlier names of parameters, which clients still send. `lease` is the oldest name of `ttl`. */
const CURRENT = {
  policies: 'token_policies',
  ttl: 'token_ttl',
  lease: 'token_ttl',
  max_ttl: 'token_max_ttl',
  period: 'token_period',
  num_uses: 'token_num_uses',
  bound_cidrs: 'token_bound_cidrs',
} as const;
/** The earlier name of a parameter. */
export type OldName = keyof typeof CURRENT;

const oldFields = {
  policies: f.commaStrings('Use token_policies.', { deprecated: true }),
  ttl: f.duration('Use token_ttl.', { deprecated: true }),
  lease: f.duration('Use token_ttl.', { deprecated: true }),
  max_ttl: f.duration('Use token_max_ttl.', { deprecated: true }),
  period: f.duration('Use token_period.', { deprecated: true }),
  num_uses: f.int('Use token_num_uses.', { deprecated: true, minimum: 0 }),
  bound_cidrs: f.commaStrings('Use token_bound_cidrs.', { deprecated: true }),
} as const;

const { token_policies: _withAlias, ...otherTokenFields } = tokenFields;
const currentFields = {
  ...otherTokenFields,
  token_policies: f.commaStrings('Policies of tokens.'),
} as const;

/** The `token_*` fields of a role or user, and those of the old names that the method knows. */
export function roleTokenFields<const N extends OldName = never>(
  oldNames: readonly N[] = [],
): typeof currentFields & { readonly [K in N]: (typeof oldFields)[K] } {
  const known = Object.fromEntries(oldNames.map((name) => [name, oldFields[name]])) as { readonly [K in N]: (typeof oldFields)[K] };
  return { ...currentFields, ...known };
}

/** The parameters of tokens that a role or user stores, and by which old names they were written. */
export const RoleTokens = Type.Object({ ...TokenParameters.properties, old_names: Type.Array(Type.String()) });
export type RoleTokens = Static<typeof RoleTokens>;

/** The parameters of tokens where nothing was written. */
export const defaultRoleTokens: RoleTokens = { ...defaultTokenParameters, old_names: [] };

/**
 * What a write makes of the stored parameters: only what was supplied changes. An old name sets its parameter and is read back beside it; if both are
 * supplied, the current name decides; the current name alone ends the old one.
 * @throws BadRequest naming the parameter
 */
export function mergeRoleTokens(
  stored: RoleTokens | undefined,
  data: Readonly<Record<string, unknown>>,
  supplied: ReadonlySet<string>,
): RoleTokens {
  const before = stored ?? defaultRoleTokens;
  const values: Record<string, unknown> = { ...data };
  const named = new Set(supplied);
  const oldNames = new Set(before.old_names);
  for (const [old, current] of Object.entries(CURRENT)) {
    if (supplied.has(old)) {
      oldNames.add(old);
      if (!supplied.has(current)) values[current] = data[old];
      named.add(current);
    } else if (supplied.has(current)) {
      oldNames.delete(old);
    }
  }
  const parameters = mergeTokenParameters(before, values, named, ['service', 'batch', 'default']);
  if (named.has('token_policies')) {
    parameters.token_policies = policyNames(parameters.token_policies, supplied.has('token_policies') ? 'token_policies' : 'policies');
  }
  return { ...parameters, old_names: [...oldNames].sort() };
}

/** What a read shows of the parameters: each under its name, and under the old names by which it was written. */
export function roleTokenData(tokens: RoleTokens): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const key of Object.keys(defaultTokenParameters) as (keyof TokenParameters)[]) shown[key] = tokens[key];
  for (const old of tokens.old_names) shown[old] = tokens[CURRENT[old as OldName]];
  return shown;
}

/** Lower-cased, trimmed, sorted, each once. @throws BadRequest that names the field, for `root`. */
export function policyNames(names: readonly string[], field: string): string[] {
  const policies = [...new Set(names.map((name) => name.trim().toLowerCase()).filter((name) => name !== ''))].sort();
  if (policies.includes('root')) {
    throw new BadRequest(`${field}: no login can give the policy "root"; write a policy of your own with the paths that are needed`);
  }
  return policies;
}

/** Refuses a login from an address outside `token_bound_cidrs`. @throws TokenRefused */
export function requireAddress(tokens: Pick<TokenParameters, 'token_bound_cidrs'>, remoteAddress: string): void {
  if (!withinCidrs(tokens.token_bound_cidrs, remoteAddress)) throw new TokenRefused();
}

/** The terms of the token that a login from this address gets. */
export function termsFor(tokens: TokenParameters, remoteAddress: string): TokenTerms {
  const terms = tokenTerms(tokens);
  return tokens.token_strictly_bind_ip && remoteAddress !== '' ? { ...terms, boundCidrs: [remoteAddress] } : terms;
}

/** What a renewed token gets: the parameters of the role as they are now. */
export function renewedBy(tokens: TokenParameters): RenewedAuth {
  return { ttl: tokens.token_ttl, maxTtl: tokens.token_max_ttl, period: tokens.token_period };
}
