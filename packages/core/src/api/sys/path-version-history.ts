import { type AnyPath, path, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { VersionHistory } from '../../services/settings/version-history.ts';

const Version = Type.Object({
  timestamp_installed: Timestamp,
  previous_version: Type.Union([Type.String(), Type.Null()]),
  build_date: Type.String(),
  commit_date: Type.String(),
});

/** `sys/version-history`. */
export function versionHistoryPaths({ history }: { readonly history: VersionHistory }): AnyPath[] {
  return [
    path('version-history', {
      synopsis: 'The versions that have run on this store.',
      description: 'The oldest first, each with the time it was first started.',
      fields: {},
    }).list({
      summary: 'List the versions',
      response: Type.Object({ keys: Type.Array(Type.String()), key_info: Type.Record(Type.String(), Version) }),
      handle: async () => {
        const versions = await history.list();
        if (versions.length === 0) return undefined;
        const info = versions.map(([version, record]) => [version, { ...record, commit_date: record.build_date }] as const);
        return { data: { keys: versions.map(([version]) => version), key_info: Object.fromEntries(info) } };
      },
    }),
  ];
}
