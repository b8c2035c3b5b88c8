import { f, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { isGone, SecretData } from './secret-record.ts';
import { findVersion } from './secret-store.ts';
import { subkeysOf } from './subkeys.ts';
import { VersionMetadata, versionMetadata } from './version-metadata.ts';

const Subkeys = Type.Object({ metadata: VersionMetadata, subkeys: Type.Union([SecretData, Type.Null()]) });

/** `subkeys/<path>`: how a version is built, without its values. */
export function subkeysPath(host: EngineHost): AnyPath {
  return path('subkeys/{path:all}', {
    synopsis: 'The keys of a secret without the values.',
    description: 'Every value is null, except objects that hold keys of their own.',
    fields: {
      path: f.name('Where the secret is kept.'),
      version: f.int('The version to read; 0 is the current one.', { default: 0 }),
      depth: f.int('How deep to go; 0 means all the way.', { default: 0, minimum: 0 }),
    },
  }).read({
    summary: 'Reads the keys of a version.',
    response: Subkeys,
    handle: async (req) => {
      const now = host.clock.now();
      const found = await findVersion(req.storage, req.data.path, req.data.version, (version) => !isGone(version, now));
      if (!found) return undefined;
      const metadata = versionMetadata(found.secret, found.version);
      if (!found.data) return { data: { metadata, subkeys: null }, status: 404 };
      return { data: { metadata, subkeys: subkeysOf(found.data, req.data.depth) } };
    },
  });
}
