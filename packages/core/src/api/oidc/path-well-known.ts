import { type AnyPath, type Clock, path, rawAnswer } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { KeySet } from '../../services/oidc/named-keys.ts';
import type { Oidc } from '../../services/oidc/open-oidc.ts';
import { ALGORITHMS } from '../../services/oidc/signing-algorithm.ts';
import { requireAddress } from '../../services/oidc/token-issuer.ts';
import { cacheFor, rawJson } from './raw-json.ts';

/** Seconds for which verifiers may keep what they fetched. */
export const DISCOVERY_AGE = 3_600;

/** A JSON Web Key Set. */
export const KeySetAnswer = rawAnswer('application/json', Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }));

/** `identity/oidc/.well-known/…` and `identity/oidc/plugins/.well-known/…`: what verifiers fetch, without a token. */
export function wellKnownPaths({ issuer, keys, clock }: Pick<Oidc, 'issuer' | 'keys'> & { readonly clock: Clock }): AnyPath[] {
  const discovery = async (address: string) => {
    requireAddress(address, 'identity/oidc/config');
    const body = {
      issuer: address,
      jwks_uri: `${address}/.well-known/keys`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ALGORITHMS,
    };
    return rawJson(body, { headers: cacheFor(DISCOVERY_AGE) });
  };
  return [
    path('oidc/.well-known/openid-configuration', {
      synopsis: 'The discovery document of the issuer.',
      description: 'As OpenID Connect Discovery defines it.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Read the discovery document',
      response: rawAnswer('application/json'),
      handle: async () => discovery(await issuer.ofTokens()),
    }),

    path('oidc/.well-known/keys', {
      synopsis: 'The public keys of the issuer.',
      description:
        'A JSON Web Key Set: for each key that a role uses, the signing key, the next key, and retired keys that can still verify.',
      access: 'unauthenticated',
      fields: {},
    }).read({ summary: 'Read the key set', response: KeySetAnswer, handle: async () => keySetAnswer(await keys.setOfRoles(), clock) }),

    path('oidc/plugins/.well-known/openid-configuration', {
      synopsis: 'The discovery document of the issuer of mounts.',
      description:
        'As OpenID Connect Discovery defines it. Clouds that trust this issuer accept the tokens of mounts, and no token of a user.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Read the discovery document of mounts',
      response: rawAnswer('application/json'),
      handle: async () => discovery(await issuer.ofMounts()),
    }),

    path('oidc/plugins/.well-known/keys', {
      synopsis: 'The public keys of the issuer of mounts.',
      description:
        'A JSON Web Key Set: for each key that signed for a mount, the signing key, the next key, and retired keys that can still verify.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Read the key set of mounts',
      response: KeySetAnswer,
      handle: async () => keySetAnswer(await keys.setOfServer(), clock),
    }),
  ];
}

/** Not to be kept beyond the next rotation, which publishes a key; after it, that key has a whole period before it signs. */
export function keySetAnswer({ keys, nextRotation }: KeySet, clock: Clock): ReturnType<typeof rawJson> {
  const left = nextRotation === undefined ? 0 : (nextRotation - clock.millis()) / 1_000;
  return rawJson({ keys }, { headers: cacheFor(Math.min(left, DISCOVERY_AGE)) });
}
