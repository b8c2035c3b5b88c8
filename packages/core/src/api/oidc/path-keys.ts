import { f, ListedKeys, pageFields, path, slicePage, type AnyPath } from '@strongroom/engine-sdk';
import type { NamedKeys } from '../../services/oidc/named-keys.ts';
import { ALGORITHMS } from '../../services/oidc/signing-algorithm.ts';

const nameField = f.name('Name of the key.');

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
        'It is rotated every rotation_period. The key that will sign next is published for a whole period before it signs, and the one that signed for ' +
        'verification_ttl afterwards. Private keys are never shown.',
      fields: {
        name: nameField,
        algorithm: f.string(`One of ${ALGORITHMS.join(', ')}; RS256 by default. Another one takes effect with the next rotation.`),
        rotation_period: f.duration('Time between rotations, at least a minute; 24 h by default.'),
        verification_ttl: f.duration('How long a key is published after it last signed, at most ten periods; 24 h by default.'),
        allowed_client_ids: f.commaStrings('Ids of the roles and clients that may use the key; * for all, none by default.'),
      },
    })
      .read({
        summary: 'Read a key',
        handle: async ({ data }) => {
          const key = await keys.get(data.name);
          if (!key) return undefined;
          const { algorithm, allowed_client_ids, rotation_period, verification_ttl } = key;
          return { data: { algorithm, allowed_client_ids, rotation_period, verification_ttl } };
        },
      })
      .upsert({
        summary: 'Create or change a key',
        exists: async ({ data }) => (await keys.get(data.name)) !== undefined,
        handle: async ({ data: { name, ...fields } }) => {
          await keys.save(name, fields);
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a key that nothing uses',
        handle: async ({ data }) => {
          await keys.remove(data.name);
          return undefined;
        },
      }),

    path('oidc/key/{name}/rotate', {
      synopsis: 'Rotate a key at once.',
      description: 'The next key signs from now on, and a new next key is published.',
      fields: {
        name: nameField,
        verification_ttl: f.duration('How long the key that signed until now stays published; by default as the key says. 0: not at all.'),
      },
    }).update({
      summary: 'Rotate a key',
      handle: async ({ data }) => {
        await keys.rotate(data.name, data.verification_ttl);
        return undefined;
      },
    }),
  ];
}
