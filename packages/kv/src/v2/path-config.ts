import { type AnyPath, f, formatDuration, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { readConfig, writeConfig } from './mount-config.ts';

const Config = Type.Object({
  cas_required: Type.Boolean(),
  delete_version_after: Type.String({ description: 'As Go prints durations: 0s, 1h30m0s.' }),
  max_versions: Type.Integer(),
  metadata_cas_required: Type.Boolean(),
});

/** `config`: settings for every secret of the mount. */
export function configPath(): AnyPath {
  return path('config', {
    synopsis: 'Settings for every secret of the mount.',
    description: 'A write replaces the settings sent and keeps the others.',
    fields: {
      max_versions: f.int('How many versions of each secret to keep, at least; 0 means 10.', { minimum: 0, maximum: 2 ** 32 - 1 }),
      cas_required: f.bool('Every write of data must say which version it replaces.'),
      metadata_cas_required: f.bool('Every write of metadata must say which metadata version it replaces.'),
      delete_version_after: f.signedDuration(
        'When new versions are deleted by themselves; 0 means never, and a negative duration that secrets cannot ask for it either.',
      ),
    },
  })
    .read({
      summary: 'Reads the settings.',
      response: Config,
      handle: async (req) => {
        const config = await readConfig(req.storage);
        return { data: { ...config, delete_version_after: formatDuration(config.delete_version_after) } };
      },
    })
    .update({
      summary: 'Writes settings.',
      response: NoContent,
      handle: async (req) => {
        const { data } = req;
        await req.storage.transaction(async (tx) => {
          const before = await readConfig(tx);
          await writeConfig(tx, {
            max_versions: data.max_versions ?? before.max_versions,
            cas_required: data.cas_required ?? before.cas_required,
            metadata_cas_required: data.metadata_cas_required ?? before.metadata_cas_required,
            delete_version_after:
              data.delete_version_after === undefined ? before.delete_version_after : Math.max(data.delete_version_after, -1),
          });
        });
        return undefined;
      },
    });
}
