import type { TokenTerms } from '@strongroom/engine-sdk';
import fc from 'fast-check';
import { ADDRESSES, BLOCKS } from './address-blocks.ts';

/** A role as it is written. */
export interface RoleOrder {
  readonly allowed_policies?: readonly string[];
  readonly allowed_policies_glob?: readonly string[];
  readonly disallowed_policies?: readonly string[];
  readonly orphan?: boolean;
  readonly token_type?: string;
  readonly token_period?: number;
  readonly token_explicit_max_ttl?: number;
  readonly token_num_uses?: number;
  readonly token_no_default_policy?: boolean;
  readonly token_bound_cidrs?: readonly string[];
  readonly token_strictly_bind_ip?: boolean;
  readonly allowed_entity_aliases?: readonly string[];
}

export interface CreateStep {
  readonly kind: 'create';
  /** Which of the tokens that live makes this one. */
  readonly maker: number;
  /** A path, or the number of a role. */
  readonly at: 'create' | 'create-orphan' | number;
  readonly order: Readonly<Record<string, unknown>>;
  readonly wrapTtl: number;
  /** Where the new token is tried from. */
  readonly probe: string;
}

export interface LoginStep {
  readonly kind: 'login';
  readonly user: string;
  readonly policies: readonly string[];
  readonly terms: Partial<TokenTerms>;
  readonly wrapTtl: number;
}

export type Step =
  | CreateStep
  | LoginStep
  | { readonly kind: 'renew'; readonly token: number; readonly increment: number }
  | { readonly kind: 'advance'; readonly seconds: number }
  | { readonly kind: 'revoke'; readonly token: number; readonly orphanChildren: boolean };

/** Each of them may look itself up and renew itself. `sealed` has the answers of `auth/token/create` wrapped, for 2 to 60 seconds. */
export const POLICIES: Readonly<Record<string, string>> = {
  maker: 'path "auth/token/*" { capabilities = ["create", "update"] }',
  chief: 'path "auth/token/*" { capabilities = ["create", "update", "sudo"] }',
  sealed: 'path "auth/token/create" { capabilities = ["update"] min_wrapping_ttl = "2s" max_wrapping_ttl = "60s" }',
  reader: 'path "secret/*" { capabilities = ["read"] }',
  writer: 'path "secret/*" { capabilities = ["create", "update"] }',
};
export const SEALED = { least: 2, most: 60 };
/** Who logs in, and the policies of their entities. */
export const USERS: Readonly<Record<string, readonly string[]>> = { ann: [], bob: ['writer'], carol: ['chief'] };

const names = [...Object.keys(POLICIES), 'default'];
const asked = fc.uniqueArray(
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: fc.constantFrom('root', ' ROOT', 'nobody-wrote-it', 'MAKER ') },
  ),
  { minLength: 1, maxLength: 3 },
);
const listed = fc.uniqueArray(fc.constantFrom(...names, 'root'), { minLength: 1, maxLength: 3 });
const blocks = fc.uniqueArray(fc.constantFrom(...BLOCKS), { minLength: 1, maxLength: 2 });
const seconds = fc.constantFrom(1, 60, 3_600, 86_400, 3_000_000);
/** Present in one of this many. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>, of: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const some = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(fields).map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)));

export const roleOrder = some({
  allowed_policies: rarely(listed, 3),
  allowed_policies_glob: rarely(fc.constantFrom(['*'], ['re*'], ['ma*', 'ch*']), 6),
  disallowed_policies: rarely(listed, 5),
  orphan: rarely(fc.constant(true), 3),
  token_type: rarely(fc.constantFrom('batch', 'service', 'default-batch'), 5),
  token_period: rarely(seconds, 5),
  token_explicit_max_ttl: rarely(seconds, 8),
  token_num_uses: rarely(fc.constant(3), 10),
  token_no_default_policy: rarely(fc.constant(true), 6),
  token_bound_cidrs: rarely(blocks, 4),
  token_strictly_bind_ip: rarely(fc.constant(true), 12),
  allowed_entity_aliases: rarely(fc.constant(['svc-*']), 4),
}) as fc.Arbitrary<RoleOrder>;

const order = some({
  policies: rarely(asked, 3),
  ttl: rarely(seconds, 3),
  explicit_max_ttl: rarely(seconds, 8),
  period: rarely(seconds, 8),
  num_uses: rarely(fc.constant(2), 25),
  no_parent: rarely(fc.constant(true), 6),
  no_default_policy: rarely(fc.constant(true), 8),
  type: rarely(fc.constantFrom('batch', 'service'), 8),
  renewable: rarely(fc.constant(false), 8),
  bound_cidrs: rarely(blocks, 6),
  id: rarely(fc.constant('chosen'), 30),
  entity_alias: rarely(fc.constantFrom('svc-a', 'SVC-b', 'ann'), 15),
});

const wrapTtl = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constantFrom(1e-9, 0.5, 1.5, 30, 60, 60.1, 61, 5e9) },
);

const create: fc.Arbitrary<CreateStep> = fc.record({
  kind: fc.constant('create' as const),
  maker: fc.nat({ max: 1_000 }),
  at: fc.oneof(
    { weight: 3, arbitrary: fc.constant('create' as const) },
    { weight: 2, arbitrary: fc.constant('create-orphan' as const) },
    { weight: 4, arbitrary: fc.nat({ max: 11 }) },
  ),
  order,
  wrapTtl,
  probe: fc.constantFrom(...ADDRESSES),
});

const terms = some({
  ttl: rarely(seconds, 3),
  maxTtl: rarely(seconds, 3),
  explicitMaxTtl: rarely(seconds, 6),
  period: rarely(seconds, 8),
  numUses: rarely(fc.constant(4), 12),
  noDefaultPolicy: rarely(fc.constant(true), 6),
  boundCidrs: rarely(fc.constantFrom(['10.0.0.0/8'], ['10.1.0.0/16', '192.168.0.0/16'], ['172.16.0.1']), 4),
  type: rarely(fc.constantFrom('batch' as const, 'service' as const), 8),
}) as fc.Arbitrary<Partial<TokenTerms>>;

const login: fc.Arbitrary<LoginStep> = fc.record({
  kind: fc.constant('login' as const),
  user: fc.constantFrom(...Object.keys(USERS)),
  policies: fc.uniqueArray(
    fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: fc.constantFrom('root', 'maker', 'Root ') }),
    {
      maxLength: 3,
    },
  ),
  terms,
  wrapTtl,
});

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 24, arbitrary: create as fc.Arbitrary<Step> },
  { weight: 4, arbitrary: login as fc.Arbitrary<Step> },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renew' as const), token: fc.nat({ max: 1_000 }), increment: seconds }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance' as const), seconds: fc.constantFrom(1, 30, 200, 4_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('revoke' as const), token: fc.nat({ max: 1_000 }), orphanChildren: fc.boolean() }),
  },
);
