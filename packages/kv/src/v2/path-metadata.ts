import { type AnyPath, BadRequest, type EngineHost, f, NoContent, pageFields, path } from '@strongroom/engine-sdk';
import { Keys, listKeys, scanKeys } from '../listing.ts';
import { checkMetadataCas } from './check-and-set.ts';
import { customMetadata, patchedCustomMetadata } from './custom-metadata.ts';
import { readConfig, type MountConfig } from './mount-config.ts';
import { nothingThere } from './path-data.ts';
import { SecretMetadata, secretMetadata } from './secret-metadata.ts';
import { newSecret, type SecretRecord } from './secret-record.ts';
import { changing, reportSecret } from './secret-source.ts';
import { deleteSecret, secrets } from './secret-store.ts';

/** The settings that a write of metadata may hold. */
interface Sent {
  readonly max_versions: number | undefined;
  readonly cas_required: boolean | undefined;
  readonly metadata_cas_required: boolean | undefined;
  readonly delete_version_after: number | undefined;
  readonly custom_metadata: Record<string, unknown> | undefined;
}
const SETTINGS = ['max_versions', 'cas_required', 'metadata_cas_required', 'delete_version_after', 'custom_metadata'] as const;

/** `metadata/<path>`: what is known of a secret, its settings, and lists of secrets. */
export function metadataPath(host: EngineHost): AnyPath {
  const { clock } = host;
  return path('metadata/{path:all}', {
    synopsis: 'Metadata and settings of a secret; lists of secrets.',
    description:
      'A write replaces the settings sent and keeps the others. Deleting the metadata removes the secret with all its versions. ' +
      'current_metadata_version counts the writes of metadata; metadata_cas checks against it.',
    fields: {
      path: f.name('Where the secret is kept, or the folder to list.'),
      max_versions: f.int("How many versions to keep, if that is more than the mount's; 0 means the mount's, which is 10 by default.", {
        minimum: 0,
        maximum: 2 ** 32 - 1,
      }),
      cas_required: f.bool('Every write of data must say which version it replaces.'),
      metadata_cas_required: f.bool('Every write of metadata must say which metadata version it replaces.'),
      delete_version_after: f.duration(
        "When new versions are deleted by themselves, if that is sooner than by the mount's; 0 means the mount's.",
      ),
      custom_metadata: f.map(
        'Texts that describe the secret: up to 64 keys of 128 bytes with values of 512 bytes. A patch removes a key by null.',
      ),
      metadata_cas: f.int('The metadata version that this write expects to replace; 0 for a secret without metadata.'),
      ...pageFields,
    },
  })
    .read({
      summary: 'Reads the metadata of a secret.',
      response: SecretMetadata,
      handle: async (req) => {
        const secret = await secrets(req.storage).get(req.data.path);
        return secret && { data: secretMetadata(secret) };
      },
    })
    .list({
      summary: 'Lists secrets and folders.',
      response: Keys,
      searched: true,
      handle: async (req) => listKeys(secrets(req.storage), req.data),
    })
    .scan({
      summary: 'Lists all secrets below a folder.',
      response: Keys,
      handle: async (req) => scanKeys(secrets(req.storage), req.data),
    })
    .upsert({
      summary: 'Writes settings of a secret, which need not have versions yet.',
      response: NoContent,
      exists: async (req) => secrets(req.storage).has(req.data.path),
      handle: async (req) => {
        const { data } = req;
        if (data.path === '') throw new BadRequest('missing path');
        if (!SETTINGS.some((name) => req.supplied.has(name))) return undefined;
        return req.storage.transaction(async (tx) => {
          const [before, config] = await Promise.all([secrets(tx).get(data.path), readConfig(tx)]);
          const required = config.metadata_cas_required || before?.metadata_cas_required === true;
          checkMetadataCas(data.metadata_cas, required, before?.current_metadata_version);
          const now = clock.now();
          const custom = data.custom_metadata && customMetadata(data.custom_metadata);
          await secrets(tx).put(data.path, withSettings(before ?? newSecret(now), data, custom, now));
          return warned(data, config);
        });
      },
    })
    .patch({
      summary: 'Changes settings of a secret that is there.',
      response: NoContent,
      answers: { 404: NoContent },
      handle: async (req) => {
        const { data } = req;
        if (data.path === '') throw new BadRequest('missing path');
        if (!SETTINGS.some((name) => req.supplied.has(name))) return undefined;
        return req.storage.transaction(async (tx) => {
          const [before, config] = await Promise.all([secrets(tx).get(data.path), readConfig(tx)]);
          if (!before) return nothingThere;
          checkMetadataCas(
            data.metadata_cas,
            config.metadata_cas_required || before.metadata_cas_required,
            before.current_metadata_version,
          );
          const custom = data.custom_metadata && patchedCustomMetadata(before.custom_metadata, data.custom_metadata);
          const cleared = req.raw['custom_metadata'] === null;
          await secrets(tx).put(data.path, withSettings(before, data, cleared ? null : custom, clock.now()));
          return warned(data, config);
        });
      },
    })
    .delete({
      summary: 'Removes a secret with all its versions, for good.',
      response: NoContent,
      handle: async (req) => {
        await changing(req.storage, req.data.path, async (tx) => {
          if (await deleteSecret(tx, req.data.path)) reportSecret(tx, 'deleted', req.data.path);
        });
        return undefined;
      },
    });
}

/** `custom`: undefined keeps what was there. */
function withSettings(before: SecretRecord, sent: Sent, custom: SecretRecord['custom_metadata'] | undefined, now: Date): SecretRecord {
  return {
    ...before,
    updated_time: now.toISOString(),
    current_metadata_version: before.current_metadata_version + 1,
    max_versions: sent.max_versions ?? before.max_versions,
    cas_required: sent.cas_required ?? before.cas_required,
    metadata_cas_required: sent.metadata_cas_required ?? before.metadata_cas_required,
    delete_version_after: sent.delete_version_after ?? before.delete_version_after,
    custom_metadata: custom === undefined ? before.custom_metadata : custom,
  };
}

function warned(sent: Sent, config: MountConfig): { warnings: string[] } | undefined {
  const warnings = (['cas_required', 'metadata_cas_required'] as const)
    .filter((name) => sent[name] === false && config[name])
    .map((name) => `"${name}" set to false, but is mandated by backend config. This value will be ignored.`);
  return warnings.length > 0 ? { warnings } : undefined;
}
