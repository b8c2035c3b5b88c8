import { type AnyPath, f, ListedKeys, NoContent, pageFields, path, Seconds, slicePage } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { NamedKeys } from '../../services/oidc/named-keys.ts';
import { ALGORITHMS } from '../../services/oidc/signing-algorithm.ts';

const nameField = f.name('Name of the key.');

const Key = Type.Object({
  algorithm: Type.String(),
  allowed_client_ids: Type.Array(Type.String()),
  rotation_period: Seconds,
  verification_ttl: Seconds,
});

/** `identity/oidc/key…` */
export function keyPaths({ keys }: { readonly keys: NamedKeys }): AnyPath[] {
  return [
    path('oidc/key', { synopsis: 'The keys that sign identity tokens.', description: 'Lists names only.', fields: pageFields }).list({
      summary: 'List the keys',
      response: ListedKeys,
      handle: async ({ data }) => ({ data: { keys: slicePage(await keys.names(), data, (name) => name) } }),
    }),

    path('oidc/key/{name}', {
      synopsis: 'A key that signs identity tokens.',
      description:
        'The server rotates the key every rotation_period. It publishes each key one period before the key signs, and until verification_ttl after its ' +
        'retirement. Private keys are never shown.',
      fields: {
        name: nameField,
        algorithm: f.string(`One of ${ALGORITHMS.join(', ')}; RS256 by default. A change takes effect at the next rotation.`),
        rotation_period: f.duration('Time between rotations, at least a minute; 24 h by default.'),
        verification_ttl: f.duration('How long a retired key stays published, at most ten rotation periods; 24 h by default.'),
        allowed_client_ids: f.commaStrings('Ids of the roles and clients that may use the key; * for all, none by default.'),
      },
    })
      .read({
        summary: 'Read a key',
        response: Key,
        handle: async ({ data }) => {
          const key = await keys.get(data.name);
          if (!key) return undefined;
          const { algorithm, allowed_client_ids, rotation_period, verification_ttl } = key;
          return { data: { algorithm, allowed_client_ids, rotation_period, verification_ttl } };
        },
      })
      .upsert({
        summary: 'Create or change a key',
        response: NoContent,
        exists: async ({ data }) => (await keys.get(data.name)) !== undefined,
        handle: async ({ data: { name, ...fields } }) => {
          await keys.save(name, fields);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete an unused key',
        response: NoContent,
        handle: async ({ data }) => {
          await keys.remove(data.name);
          return undefined;
        },
      }),

    path('oidc/key/{name}/rotate', {
      synopsis: 'Rotate a key now.',
      description: 'The next key becomes the signing key, and a new next key is generated and published.',
      fields: {
        name: nameField,
        verification_ttl: f.duration(
          'How long the retired key stays published. 0 withdraws it immediately. Default: verification_ttl of the key.',
        ),
      },
    }).update({
      summary: 'Rotate a key',
      response: NoContent,
      handle: async ({ data }) => {
        await keys.rotate(data.name, data.verification_ttl);
        return undefined;
      },
    }),
  ];
}
