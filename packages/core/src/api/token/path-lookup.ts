import {
  type Answered,
  type AnyPath,
  BadRequest,
  f,
  InvalidRequest,
  ListedKeys,
  pageFields,
  path,
  Seconds,
  slicePage,
  Timestamp,
  TokenRefused,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { IdentityStore } from '../../services/identity/identity-store.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import { isOrphan, ttlLeft } from '../../services/tokens/token-record.ts';
import type { FoundToken, TokenStore } from '../../services/tokens/token-store.ts';

const epoch = Type.Integer({ description: 'Seconds since the epoch.' });
const TokenData = Type.Object(
  {
    accessor: Type.String(),
    creation_time: epoch,
    creation_ttl: Seconds,
    display_name: Type.String(),
    entity_id: Type.String(),
    expire_time: Type.Union([Timestamp, Type.Null()]),
    explicit_max_ttl: Seconds,
    id: Type.String({ description: 'The token; empty in a lookup by accessor.', secret: true }),
    external_namespace_policies: Type.Optional(Type.Object({})),
    identity_policies: Type.Optional(Type.Array(Type.String())),
    issue_time: Timestamp,
    last_renewal: Type.Optional(Timestamp),
    last_renewal_time: Type.Optional(epoch),
    max_expire_time: Type.Optional(Timestamp),
    meta: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
    num_uses: Type.Integer({ description: 'Calls that are left; 0 for no limit.' }),
    orphan: Type.Boolean(),
    path: Type.String({ description: 'Where it was made.' }),
    period: Type.Optional(Seconds),
    policies: Type.Array(Type.String()),
    renewable: Type.Boolean(),
    role: Type.Optional(Type.String()),
    bound_cidrs: Type.Optional(Type.Array(Type.String())),
    ttl: Seconds,
    type: Type.Union([Type.Literal('service'), Type.Literal('batch')]),
  },
  { title: 'TokenData' },
);
type TokenData = Answered<Static<typeof TokenData>>;

/** `auth/token/lookup…` and the list of accessors. */
export function lookupPaths(parts: { tokens: TokenStore; identity: IdentityStore; now: () => number }): AnyPath[] {
  const { tokens, identity, now } = parts;

  const describe = async (found: FoundToken, id: string): Promise<TokenData> => {
    const { record } = found;
    const more = record.entity_id ? ((await identity.policiesOf(record.entity_id))?.policies ?? []) : [];
    const identityPolicies = more.filter((name) => !record.policies.includes(name));
    const leased = record.expires !== 0;
    return {
      accessor: record.accessor,
      creation_time: Math.floor(record.created / 1_000),
      creation_ttl: record.creation_ttl,
      display_name: record.display_name,
      entity_id: record.entity_id ?? '',
      expire_time: leased ? new Date(record.expires).toISOString() : null,
      explicit_max_ttl: record.explicit_max_ttl ?? 0,
      id,
      ...(identityPolicies.length > 0 ? { external_namespace_policies: {}, identity_policies: identityPolicies } : {}),
      issue_time: new Date(record.created).toISOString(),
      ...(record.last_renewal === undefined
        ? {}
        : { last_renewal: new Date(record.last_renewal).toISOString(), last_renewal_time: Math.floor(record.last_renewal / 1_000) }),
      ...(record.latest === undefined ? {} : { max_expire_time: new Date(record.latest).toISOString() }),
      meta: record.meta ?? null,
      num_uses: Math.max(0, record.num_uses ?? 0),
      orphan: found.type === 'service' && isOrphan(record),
      path: record.path,
      ...(record.period ? { period: record.period } : {}),
      policies: record.policies,
      renewable: leased && record.renewable,
      ...(record.role === undefined ? {} : { role: record.role }),
      ...(record.bound_cidrs ? { bound_cidrs: record.bound_cidrs } : {}),
      ttl: ttlLeft(record, now()),
      type: found.type,
    };
  };

  const self = { summary: 'Looks up the calling token.', response: TokenData, handle: async (req: object) => lookupSelf(req) };
  const lookupSelf = async (req: object): Promise<{ data: TokenData }> => {
    const { token, identity: who } = internalOf(req);
    return { data: await describe(token!, who!.token) };
  };

  return [
    path('lookup-self', {
      synopsis: 'What the calling token is.',
      description: 'Ttl, policies, metadata and the rest.',
      fields: { token: f.secret('Ignored.') },
    })
      .read(self)
      .update(self),
    path('lookup', {
      synopsis: 'What a token is.',
      description: 'Without a token in the body it is the calling one.',
      fields: { token: f.secret('The token.') },
    })
      .read(self)
      .update({
        summary: 'Looks up a token.',
        response: TokenData,
        handle: async (req) => {
          if (!req.data.token) return lookupSelf(req);
          const found = await tokens.find(req.data.token);
          if (!found) throw new TokenRefused('bad token');
          return { data: await describe(found, req.data.token) };
        },
      }),
    path('lookup-accessor', {
      synopsis: 'What the token of an accessor is.',
      description: 'The token itself is not shown.',
      fields: { accessor: f.string('The accessor.') },
    }).update({
      summary: 'Looks up a token by its accessor.',
      response: TokenData,
      handle: async (req) => {
        if (!req.data.accessor) throw new BadRequest('missing accessor');
        const found = await tokens.byAccessor(req.data.accessor);
        if (!found) throw new InvalidRequest('invalid accessor');
        return { data: await describe(found, '') };
      },
    }),
    path('accessors', {
      synopsis: 'The accessors of all tokens.',
      description: 'An accessor can look up and revoke its token, so the list needs sudo.',
      access: 'sudo',
      fields: pageFields,
    }).list({
      summary: 'Lists accessors.',
      response: ListedKeys,
      handle: async ({ data }) => ({ data: { keys: slicePage((await tokens.accessors()).sort(), data, (accessor) => accessor) } }),
    }),
  ];
}
