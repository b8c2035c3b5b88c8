import { type AnyPath, BadRequest, type EngineHost, f, NoContent, path } from '@strongroom/engine-sdk';
import { isDeleted, type VersionRecord } from './secret-record.ts';
import { changing, reportSecret } from './secret-source.ts';
import { changeVersions } from './secret-store.ts';

interface Change {
  readonly synopsis: string;
  readonly description: string;
  readonly summary: string;
  /** The complaint when no version was named. */
  readonly missing: string;
  /** What those who follow events hear. */
  readonly reported: 'written' | 'deleted';
  readonly apply: (version: VersionRecord, now: Date) => VersionRecord;
}

/** `delete/<path>`, `undelete/<path>` and `destroy/<path>`: one change for the versions named. */
export function versionsPaths(host: EngineHost): readonly AnyPath[] {
  return [
    versionsPath(host, 'delete/{path:all}', {
      synopsis: 'Deletes versions of a secret.',
      description: 'Deleted versions cannot be read, and can be brought back.',
      summary: 'Marks versions as deleted.',
      missing: 'No version number provided',
      reported: 'deleted',
      apply: (version, now) => (isDeleted(version, now) ? version : { ...version, deletion_time: now.toISOString() }),
    }),
    versionsPath(host, 'undelete/{path:all}', {
      synopsis: 'Brings deleted versions of a secret back.',
      description: 'Also takes back a deletion that is due later. Destroyed versions stay destroyed.',
      summary: 'Takes back the deletion of versions.',
      missing: 'No version number provided',
      reported: 'written',
      apply: (version) => (version.deletion_time === '' || version.absent ? version : { ...version, deletion_time: '' }),
    }),
    versionsPath(host, 'destroy/{path:all}', {
      synopsis: 'Destroys versions of a secret.',
      description: 'The data is removed from storage and cannot be brought back.',
      summary: 'Removes the data of versions.',
      missing: 'no version number provided',
      reported: 'deleted',
      apply: (version) => ({ ...version, destroyed: true }),
    }),
  ];
}

function versionsPath(host: EngineHost, pattern: `${string}{path:all}`, change: Change): AnyPath {
  return path(pattern, {
    synopsis: change.synopsis,
    description: change.description,
    fields: {
      path: f.name('Where the secret is kept.'),
      versions: f.commaInts('Numbers of the versions. Those that are not there are passed over.'),
    },
  }).update({
    summary: change.summary,
    response: NoContent,
    handle: async (req) => {
      const { path: id, versions } = req.data;
      if (versions === undefined || versions.length === 0) throw new BadRequest(change.missing);
      const now = host.clock.now();
      await changing(req.storage, id, async (tx) => {
        const changed = await changeVersions(tx, id, versions, (version) => change.apply(version, now));
        if (changed) reportSecret(tx, change.reported, id, versions.length === 1 ? versions[0] : undefined);
      });
      return undefined;
    },
  });
}
