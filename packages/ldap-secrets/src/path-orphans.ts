import { BadRequest, f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { MARKED_LENGTH } from './account-mark.ts';
import type { OrphanedAccounts } from './orphans.ts';

const COPIES =
  'a copy of this server, such as another server that was restored from its backup, marks its accounts alike; remove accounts by name where there is one';

const Names = Type.Array(Type.String());
const Answer = Type.Object({
  removed: Names,
  gone: Type.Array(Type.String(), { description: 'Asked for, and not in the directory.' }),
  pending: Type.Record(Type.String(), Type.String(), { description: 'Could not be removed yet, and why. The server goes on trying.' }),
});

export function orphanPaths(orphans: OrphanedAccounts): readonly AnyPath[] {
  interface Asked {
    readonly data: { readonly usernames: string[] | undefined; readonly all: boolean };
    readonly signal: AbortSignal;
  }
  const remove = async ({ data: { usernames = [], all }, signal }: Asked) => {
    if (all === usernames.length > 0) throw new BadRequest('give either usernames, those to remove, or all=true');
    const { removed, gone, pending } = await orphans.remove(all ? 'all' : usernames, signal);
    return { data: { removed: [...removed], gone: [...gone], pending: { ...pending } } };
  };

  const found = path('orphans', {
    synopsis: 'Accounts that were left in the directory.',
    access: 'sudo',
    description:
      'Accounts that dynamic roles of this mount made and that nothing keeps: no lease, no creation or removal under way, no static role, set or configuration of any ' +
      'mount of this server. They are left by a lease that was revoked by force, or by a store that was restored from a backup; the mount knows them by a ' +
      `record, or by the mark that it puts into names with at least ${MARKED_LENGTH} characters of random, below the bases where its roles create entries.`,
    fields: {
      usernames: f.commaStrings('Those to remove.'),
      all: f.bool('Remove all that are listed at the moment.', { default: false }),
    },
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
    .update({ summary: 'Removes orphans.', response: Answer, handle: remove })
    .delete({ summary: 'Removes orphans.', response: Answer, handle: remove });
  return [found];
}

function noMark(role: string): string {
  return (
    `role ${JSON.stringify(role)}: its names carry no mark, since username_template leaves fewer than ${MARKED_LENGTH} characters of random as they are, or the name is ` +
    'not in the distinguished names; of its accounts, only those whose lease was revoked by force are listed'
  );
}
