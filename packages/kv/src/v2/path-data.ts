import {
  type AnyPath,
  BadRequest,
  type EngineHost,
  type EngineRequest,
  type EngineResponse,
  f,
  NoContent,
  path,
  toFloats,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { checkAndSet, ignoredOptions } from './check-and-set.ts';
import { mergePatch } from './merge-patch.ts';
import { readConfig } from './mount-config.ts';
import { isDeleted, isGone, SecretData, versionOf } from './secret-record.ts';
import { changing, reportSecret } from './secret-source.ts';
import { changeVersions, dataOf, findVersion, secrets, whileChanging, writeVersion } from './secret-store.ts';
import { VersionMetadata, versionMetadata } from './version-metadata.ts';

const Secret = Type.Object({ data: Type.Union([SecretData, Type.Null()], { secret: true }), metadata: VersionMetadata });

/** Vault's and OpenBao's answer to a change of what is not there: the status alone. */
export const nothingThere: EngineResponse<never> = { status: 404, raw: { contentType: 'application/json', body: '' } };

/** `data/<path>`: the versions of a secret. */
export function dataPath(host: EngineHost): AnyPath {
  const { clock } = host;
  return path('data/{path:all}', {
    synopsis: 'Reads and writes the versions of a secret.',
    description:
      'A write adds a version. With options.cas it succeeds only if the current version is that one; 0 means that there must be none. ' +
      'A delete marks the current version as deleted, which can be undone.',
    exactNumbers: true,
    fields: {
      path: f.name('Where the secret is kept.'),
      data: f.map('What the version holds.'),
      options: f.map('May hold cas: the version that this write expects to replace.'),
      version: f.int('The version to read; 0 is the current one.', { default: 0 }),
    },
  })
    .read({
      summary: 'Reads a version of a secret. A deleted or destroyed one is answered with status 404 and its metadata.',
      takes: ['version'],
      response: Secret,
      handle: async (req) => {
        const now = clock.now();
        const found = await findVersion(req.storage, req.data.path, req.data.version, (version) => !isGone(version, now));
        if (!found) return undefined;
        const metadata = versionMetadata(found.secret, found.version);
        return found.data ? { data: { data: found.data, metadata } } : { data: { data: null, metadata }, status: 404 };
      },
    })
    .upsert({
      summary: 'Writes a new version of a secret.',
      response: VersionMetadata,
      exists: async (req) => secrets(req.storage).has(req.data.path),
      handle: async (req) => {
        const { path: id, options } = req.data;
        if (id === '') throw new BadRequest('missing path');
        const data = sentData(req);
        return changing(req.storage, id, async (tx) => {
          const [before, config] = await Promise.all([secrets(tx).get(id), readConfig(tx)]);
          checkAndSet(options, config.cas_required || before?.cas_required === true, before?.current_version ?? 0);
          const { secret, version } = await writeVersion(tx, id, { before, data, now: clock.now(), config });
          reportSecret(tx, 'written', id, version.version);
          return { data: versionMetadata(secret, version), ...ignoredOptions(options) };
        });
      },
    })
    .patch({
      summary: 'Writes a new version that merges the data sent into the current one (RFC 7396).',
      response: VersionMetadata,
      answers: { 404: NoContent },
      handle: async (req) => {
        const { path: id, options } = req.data;
        const patch = sentData(req);
        return whileChanging(async () =>
          changing(req.storage, id, async (tx) => {
            const [before, config] = await Promise.all([secrets(tx).get(id), readConfig(tx)]);
            if (!before) return nothingThere;
            checkAndSet(options, config.cas_required || before.cas_required, before.current_version);
            const current = versionOf(before, before.current_version);
            if (!current) return nothingThere;
            const now = clock.now();
            if (isGone(current, now)) return { data: versionMetadata(before, current), status: 404 };
            const data = await dataOf(tx, id, before, current);
            if (!data) return 'changed';
            const { secret, version } = await writeVersion(tx, id, { before, data: mergePatch(data, patch), now, config });
            reportSecret(tx, 'written', id, version.version);
            return { data: versionMetadata(secret, version), ...ignoredOptions(options) };
          }),
        );
      },
    })
    .delete({
      summary: 'Marks the current version as deleted.',
      response: NoContent,
      handle: async (req) => {
        await changing(req.storage, req.data.path, async (tx) => {
          const now = clock.now();
          let deleted: number | undefined;
          await changeVersions(tx, req.data.path, 'current', (version) => {
            if (isDeleted(version, now)) return version;
            deleted = version.version;
            return { ...version, deletion_time: now.toISOString() };
          });
          if (deleted !== undefined) reportSecret(tx, 'deleted', req.data.path, deleted);
        });
        return undefined;
      },
    });
}

function sentData(
  req: Pick<EngineRequest, 'raw'> & { readonly data: { readonly data: Record<string, unknown> | undefined } },
): Record<string, unknown> {
  if (req.data.data === undefined || req.raw['data'] === null) throw new BadRequest('no data provided');
  return toFloats(req.data.data, (at, number) => {
    throw new BadRequest(`data.${at} is ${number.slice(0, 40)}, which is too large: version 2 of key-value holds numbers as 64-bit floats`);
  }) as Record<string, unknown>;
}
