import { orphanCopiesWarning, orphanFields, orphanRemoval, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { MARKED_LENGTH } from './account-mark.ts';
import type { OrphanedAccounts } from './orphans.ts';

const COPIES = orphanCopiesWarning('accounts');

const Names = Type.Array(Type.String());

export function orphanPaths(orphans: OrphanedAccounts): readonly AnyPath[] {
  const remove = orphanRemoval('the directory', async (asked, { signal }) => orphans.remove(asked, signal));
  const found = path('orphans', {
    synopsis: 'Accounts that were left in the directory.',
    access: 'sudo',
    description:
      'Accounts that dynamic roles of this mount made and that nothing keeps: no lease, no creation or removal under way, no static role, set or configuration of any ' +
      'mount of this server. They are left by a lease that was revoked by force, or by a store that was restored from a backup; the mount knows them by a ' +
      `record, or by the mark that it puts into names with at least ${MARKED_LENGTH} characters of random, below the bases where its roles create entries.`,
    fields: orphanFields,
  })
    .read({
      summary: 'Lists the orphans of the mount.',
      response: Type.Object({
        usernames: Names,
        accounts: Type.Array(
          Type.Object({
            username: Type.String(),
            entries: Type.Array(Type.String(), { description: 'What a removal deletes, whatever deletion_ldif leaves.' }),
            role: Type.Optional(Type.String({ description: 'Absent where several roles, or none, can have made it.' })),
            created: Type.Optional(Type.String({ description: 'By the clock of the directory, where it says.' })),
            known_by: Type.Union([Type.Literal('record'), Type.Literal('mark')], {
              description: 'record: its lease was revoked by force. mark: its name has the mark of this mount, and no record knows it.',
            }),
          }),
        ),
        searched: Type.Array(Type.String(), { description: 'The bases where marked names were looked for.' }),
      }),
      handle: async (req) => {
        const { orphans: accounts, searched, unmarked } = await orphans.find(req.signal);
        const usernames = accounts.map(({ username }) => username);
        const warnings = [...unmarked.map(noMark), ...(accounts.length > 0 ? [COPIES] : [])];
        return {
          data: {
            usernames,
            accounts: accounts.map(({ deletion_ldif: _ofTheRole, ...account }) => ({ ...account, entries: [...account.entries] })),
            searched: [...searched],
          },
          ...(warnings.length > 0 ? { warnings } : {}),
        };
      },
    })
    .update(remove)
    .delete(remove);
  return [found];
}

function noMark(role: string): string {
  return (
    `role ${JSON.stringify(role)}: its names carry no mark, since username_template leaves fewer than ${MARKED_LENGTH} characters of random as they are, or the name is ` +
    'not in the distinguished names; of its accounts, only those whose lease was revoked by force are listed'
  );
}
