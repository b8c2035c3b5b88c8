import { Type, type Static } from 'typebox';
import type { TokenTerms } from './auth.ts';
import { isCidr } from './cidr.ts';
import { BadRequest } from './errors.ts';
import { f } from './field.ts';

/** The `token_*` parameters that every auth method accepts, with the names of Vault and OpenBao. */
export const tokenFields = {
  token_ttl: f.duration('The initial TTL of tokens.'),
  token_max_ttl: f.duration('The maximum lifetime of tokens.'),
  token_policies: f.commaStrings('Policies of generated tokens, beside those that the login itself gives.', { aliases: ['policies'] }),
  token_bound_cidrs: f.commaStrings('CIDR blocks from which callers can log in and use the token.'),
  token_explicit_max_ttl: f.duration('Hard limit on the lifetime of tokens, fixed at login.'),
  token_no_default_policy: f.bool('Do not add the policy "default".'),
  token_num_uses: f.int('Number of uses of the token; 0 means no limit.', { minimum: 0 }),
  token_period: f.duration('Makes tokens periodic: each renewal sets this TTL.'),
  token_type: f.string('service, batch, or default (the token type of the mount).'),
  token_strictly_bind_ip: f.bool('Bind the token to the address of the login.'),
} as const;

/** The parameters of tokens that a login method or a role stores. */
export const TokenParameters = Type.Object({
  token_bound_cidrs: Type.Array(Type.String()),
  token_explicit_max_ttl: Type.Number(),
  token_max_ttl: Type.Number(),
  token_no_default_policy: Type.Boolean(),
  token_num_uses: Type.Number(),
  token_period: Type.Number(),
  token_policies: Type.Array(Type.String()),
  token_strictly_bind_ip: Type.Boolean(),
  token_ttl: Type.Number(),
  token_type: Type.String(),
});
/** Parameters of tokens, as they are stored. */
export type TokenParameters = Static<typeof TokenParameters>;

/** The parameters of tokens where nothing was written. */
export const defaultTokenParameters: TokenParameters = {
  token_bound_cidrs: [],
  token_explicit_max_ttl: 0,
  token_max_ttl: 0,
  token_no_default_policy: false,
  token_num_uses: 0,
  token_period: 0,
  token_policies: [],
  token_strictly_bind_ip: false,
  token_ttl: 0,
  token_type: 'default',
};

type TokenType = TokenTerms['type'];
const TOKEN_TYPES: readonly TokenType[] = ['service', 'batch', 'default', 'default-service', 'default-batch'];

/**
 * What a write makes of the stored parameters: only what was supplied changes. `types`: the values that `token_type` may have; by default all.
 * @throws BadRequest naming the parameter
 */
export function mergeTokenParameters(
  stored: TokenParameters,
  data: { readonly [K in keyof TokenParameters]?: TokenParameters[K] | undefined },
  supplied: ReadonlySet<string>,
  types: readonly TokenType[] = TOKEN_TYPES,
): TokenParameters {
  const merged: Record<string, unknown> = {};
  for (const key of Object.keys(defaultTokenParameters) as (keyof TokenParameters)[]) {
    merged[key] = supplied.has(key) ? (data[key] ?? defaultTokenParameters[key]) : stored[key];
  }
  const result = merged as TokenParameters;
  result.token_policies = [...new Set(result.token_policies.map((name) => name.toLowerCase()))].sort();
  if (result.token_type === '') result.token_type = 'default';
  if (!(types as readonly string[]).includes(result.token_type)) {
    throw new BadRequest(`invalid 'token_type' value ${JSON.stringify(result.token_type)}`);
  }
  if (result.token_max_ttl > 0 && result.token_ttl > result.token_max_ttl)
    throw new BadRequest("'token_ttl' cannot be greater than 'token_max_ttl'");
  if (result.token_type === 'batch') {
    const refused = "'token_type' cannot be 'batch' or 'default_batch' when set to generate";
    if (result.token_period > 0) throw new BadRequest(`${refused} periodic tokens`);
    if (result.token_num_uses > 0) throw new BadRequest(`${refused} tokens with limited use count`);
  }
  for (const block of result.token_bound_cidrs) {
    if (!isCidr(block)) throw new BadRequest(`field 'token_bound_cidrs': ${JSON.stringify(block)} is not an address or CIDR block`);
  }
  result.token_bound_cidrs = result.token_bound_cidrs.map(plainAddress);
  const bound = supplied.has('token_strictly_bind_ip') || supplied.has('token_bound_cidrs');
  if (bound && result.token_strictly_bind_ip && result.token_bound_cidrs.length > 0) {
    throw new BadRequest("'token_strictly_bind_ip' conflicts with 'token_bound_cidrs'; set only one");
  }
  return result;
}

/** `10.1.2.3/32` is the address alone. */
function plainAddress(block: string): string {
  const [address = '', bits] = block.split('/');
  return bits === (address.includes(':') ? '128' : '32') ? address : block;
}

/** The terms of a token by the parameters that are stored. */
export function tokenTerms(parameters: TokenParameters): TokenTerms {
  return {
    ttl: parameters.token_ttl,
    maxTtl: parameters.token_max_ttl,
    explicitMaxTtl: parameters.token_explicit_max_ttl,
    period: parameters.token_period,
    numUses: parameters.token_num_uses,
    noDefaultPolicy: parameters.token_no_default_policy,
    boundCidrs: parameters.token_bound_cidrs,
    type: parameters.token_type as TokenTerms['type'],
    renewable: true,
  };
}
