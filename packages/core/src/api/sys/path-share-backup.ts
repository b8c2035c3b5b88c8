import { type AnyPath, BadRequest, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Rekeying, RekeyTarget } from '../../services/ceremony/rekeying.ts';

const byFingerprint = (description: string) => Type.Record(Type.String(), Type.Array(Type.String()), { description, secret: true });
const Backup = Type.Object({
  nonce: Type.String({ description: 'Of the rekey that made the shares.' }),
  keys: byFingerprint('Encrypted shares in hex, by the fingerprint of the key.'),
  keys_base64: byFingerprint('The same in base64.'),
});

/** The older name of each. */
const LEGACY: Readonly<Record<RekeyTarget, string>> = { root: 'rekey/backup', recovery: 'rekey/recovery-key-backup' };

/** `sys/rotate/{root,recovery}/backup` and their older names: encrypted shares that a rekey with `backup` left in the store. */
export function shareBackupPaths(rekeyings: readonly Rekeying[]): AnyPath[] {
  return rekeyings.flatMap((rekeying) =>
    [`rotate/${rekeying.target}/backup`, LEGACY[rekeying.target]].map((name) => backupPath(name, rekeying)),
  );
}

function backupPath(name: string, rekeying: Rekeying): AnyPath {
  return path(name as 'rotate/root/backup', {
    synopsis: 'The encrypted shares of the last rekey with a backup.',
    description: 'Kept until they are deleted, or the next rekey with a backup takes their place.',
    access: 'sudo',
    fields: {},
  })
    .read({
      summary: 'Shows the backup.',
      response: Backup,
      handle: async () => {
        const backup = await rekeying.backup();
        if (!backup) throw new BadRequest('no backed-up keys found');
        const base64 = Object.entries(backup.keys).map(([fingerprint, keys]): [string, string[]] => [
          fingerprint,
          keys.map((key) => Buffer.from(key, 'hex').toString('base64')),
        ]);
        return { data: { nonce: backup.nonce, keys: backup.keys, keys_base64: Object.fromEntries(base64) } };
      },
    })
    .delete({
      summary: 'Deletes the backup.',
      response: NoContent,
      handle: async () => {
        await rekeying.deleteBackup();
        return undefined;
      },
    });
}
