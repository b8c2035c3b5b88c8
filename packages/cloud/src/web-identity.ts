import { BadRequest, f, type EngineHost } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { WebIdentity } from './cloud-provider.ts';

/** Seconds. */
const DEFAULT_TTL = 3_600;
const ROLE = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\x21-\x7e]+$/;

/** How the mount is let in without an access key. All absent where it is not. */
export const WebIdentityRecord = Type.Object({
  role_arn: Type.Optional(Type.String()),
  identity_token_audience: Type.Optional(Type.String()),
  /** '' for the default key. */
  identity_token_key: Type.Optional(Type.String()),
  /** Seconds. */
  identity_token_ttl: Type.Optional(Type.Number()),
});
export type WebIdentityRecord = Static<typeof WebIdentityRecord>;

export const webIdentityParameters = {
  role_arn: f.string('ARN of the role to assume with an identity token of this mount, in place of an access key.', { default: '' }),
  identity_token_audience: f.string('Audience of the identity token, as the identity provider at AWS lists it. Needs role_arn.', {
    default: '',
  }),
  identity_token_key: f.string('Key of identity/oidc/key that signs the identity token; default unless given.', { default: '' }),
  identity_token_ttl: f.duration('How long an identity token is good.', { default: DEFAULT_TTL }),
};

/** What a read adds where `role_arn` is set. */
export const visibleWebIdentityFields = {
  role_arn: Type.Optional(Type.String()),
  identity_token_audience: Type.Optional(Type.String()),
  identity_token_key: Type.Optional(Type.String()),
  identity_token_ttl: Type.Optional(Type.Number({ description: 'Seconds.' })),
  identity_token_issuer: Type.Optional(Type.String({ description: 'Whom AWS must trust: the iss of the tokens.' })),
  identity_token_subject: Type.Optional(
    Type.String({ description: 'Whom the trust policy of the role must name: the sub of the tokens.' }),
  ),
};

type Sent = Required<WebIdentityRecord>;

/** @throws BadRequest for what cannot be combined */
export function webIdentityOf(
  { role_arn, identity_token_audience: audience, identity_token_key, identity_token_ttl }: Sent,
  accessKey: string,
): WebIdentityRecord {
  if (role_arn === '' && audience === '') {
    if (identity_token_key !== '') throw new BadRequest('identity_token_key is for role_arn, which is missing');
    return {};
  }
  if (accessKey !== '')
    throw new BadRequest(`only one of access_key and ${role_arn === '' ? 'identity_token_audience' : 'role_arn'} can be set`);
  if (role_arn === '') throw new BadRequest('role_arn must be set when identity_token_audience is set');
  if (audience === '') throw new BadRequest('identity_token_audience must be set when role_arn is set');
  if (!ROLE.test(role_arn)) throw new BadRequest('role_arn must look like arn:aws:iam::123456789012:role/name');
  if (identity_token_ttl < 1) throw new BadRequest('identity_token_ttl must be at least 1 second');
  return { role_arn, identity_token_audience: audience, identity_token_key, identity_token_ttl };
}

/** What a read shows. The issuer is left out while the server knows no address of its own. */
export async function visibleWebIdentity(
  host: EngineHost,
  { role_arn, identity_token_audience, identity_token_key, identity_token_ttl }: WebIdentityRecord,
) {
  if (role_arn === undefined) return {};
  const claims = await host.identity.claims().catch(() => undefined);
  return {
    role_arn,
    identity_token_audience,
    identity_token_key,
    identity_token_ttl,
    ...(claims && { identity_token_issuer: claims.issuer, identity_token_subject: claims.subject }),
  };
}

/** How a session obtains its credentials; undefined where it has a key, or what it finds. */
export function openWebIdentity(host: EngineHost, record: WebIdentityRecord): WebIdentity | undefined {
  const {
    role_arn: roleArn,
    identity_token_audience: audience,
    identity_token_key: key = '',
    identity_token_ttl: ttl = DEFAULT_TTL,
  } = record;
  if (roleArn === undefined || audience === undefined) return undefined;
  return {
    roleArn,
    sessionName: `strongroom-${host.mount.accessor}`.slice(0, 64),
    token: async () => (await host.identity.token({ audience, key, ttl })).token,
  };
}
