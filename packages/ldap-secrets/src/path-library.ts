import { type AnyPath, BadRequest, type EngineHost, f, folderList, foldersPath, NoContent, pageFields, path } from '@strongroom/engine-sdk';
import { RotationStatus } from '@strongroom/rotation';
import { Type } from 'typebox';
import { isFree, sameBorrower, type Borrower, type LibraryAccounts } from './library-accounts.ts';
import type { LibrarySets } from './library-sets.ts';
import type { Library } from './library.ts';
import { pathName, requireReachable } from './path-name.ts';
import { accountKey, recordsIn, type LibrarySetRecord, type Loan } from './records.ts';

const DAY = 86_400;
/** What begins and ends the paths of a set. */
const HIDDEN_SETS = { begins: 'manage', ends: ['check-out', 'check-in', 'status', 'waiting'] };

export function libraryPaths(host: EngineHost, librarySets: LibrarySets, accounts: LibraryAccounts, library: Library): readonly AnyPath[] {
  const { sets } = recordsIn(host.storage);
  const name = pathName('set');

  const set = path('library/{name:path}', {
    synopsis: 'Sets of service accounts that are lent, one borrower at a time.',
    description:
      'An account is in one set at most, and in no static role. It must exist when it is added; its password is changed then, and whenever it comes ' +
      'back. An account that is out can neither be taken from its set nor deleted with it.',
    fields: {
      name,
      service_account_names: f.commaStrings('The accounts: values of userattr.'),
      ttl: f.duration('Longest time of one check-out; 0 for no limit. Default 24h.'),
      max_ttl: f.duration('Longest time of a check-out with renewals; 0 for no limit. Default 24h.'),
      disable_check_in_enforcement: f.bool('Anybody may check in, not only who checked out.'),
      adopt: f.bool(
        'Take the accounts over, or back, from whoever manages them now: those do not rotate them any more. Of this write alone.',
      ),
      ...pageFields,
    },
  })
    .read({
      summary: 'Reads a set.',
      response: Type.Object({
        service_account_names: Type.Array(Type.String()),
        ttl: Type.Number({ description: 'Seconds.' }),
        max_ttl: Type.Number({ description: 'Seconds.' }),
        disable_check_in_enforcement: Type.Boolean(),
      }),
      handle: async (req) => {
        const record = await sets.get(req.data.name);
        return record && { data: record };
      },
    })
    .upsert({
      summary: 'Creates or changes a set.',
      response: NoContent,
      exists: async (req) => sets.has(req.data.name),
      handle: async (req) => {
        requireReachable(req.data.name, HIDDEN_SETS);
        await librarySets.write(req.data.name, (before) => changed(before, req.data), req.signal, req.data.adopt);
        const most = host.mount.maxLeaseTtl;
        const { ttl = 0, max_ttl = 0 } = req.data;
        if (ttl <= most && max_ttl <= most) return undefined;
        return { warnings: [`ttl and max_ttl: leases of this mount last ${most} s at most; check-outs end by then`] };
      },
    })
    .delete({
      summary: 'Deletes a set. The accounts stay in the directory, with passwords that are stored nowhere.',
      response: NoContent,
      handle: async (req) => {
        await librarySets.delete(req.data.name);
        return undefined;
      },
    })
    .list(folderList(sets, 'Lists sets and folders.'));

  const status = path('library/{name:path}/status', {
    synopsis: 'Which accounts of a set are out.',
    description:
      'An account is available when it is not borrowed and its password was changed after the last loan. The borrower is shown by its display name, its entity, and a salted digest ' +
      'of its token. borrowed_until is the end of the lease: the account comes back then, or earlier. Without it, the loan has no limit.',
    fields: { name },
  }).read({
    summary: 'Shows the accounts of a set.',
    response: Type.Record(
      Type.String(),
      Type.Object({
        available: Type.Boolean(),
        ...BorrowerFields,
        borrowed_since: Type.Optional(Type.String()),
        borrowed_until: Type.Optional(Type.String()),
        borrowed_by_you: Type.Optional(Type.Boolean()),
        rotation: RotationStatus,
      }),
    ),
    handle: async (req) => {
      const you = await accounts.borrowerOf(req.caller);
      const shown: Record<string, Shown> = {};
      for (const { account, available, rotation } of await membersOf(req.data.name)) {
        shown[account.name] = { available, ...(account.loan ? shownLoan(account.loan, you) : {}), rotation };
      }
      return { data: shown };
    },
  });

  const waiting = path('library/{name:path}/waiting', {
    synopsis: 'Who waits for an account of a set.',
    description:
      'The callers of check-out with wait, on all servers, in the order in which they are served. earliest is when the next account comes back at the latest: now ' +
      'where one is free, null where no loan has an end. Borrowers often return accounts earlier.',
    fields: { name },
  }).read({
    summary: 'Shows who waits for a set.',
    response: Type.Object({
      available: Type.Number({ description: 'Accounts that are free.' }),
      earliest: Type.Union([Type.String(), Type.Null()]),
      waiting: Type.Array(
        Type.Object({
          position: Type.Number({ description: 'From 1.' }),
          ...BorrowerFields,
          since: Type.String(),
          until: Type.String({ description: 'When the caller gives up.' }),
          you: Type.Boolean(),
        }),
      ),
    }),
    handle: async (req) => {
      const you = await accounts.borrowerOf(req.caller);
      const members = await membersOf(req.data.name);
      const available = members.filter((member) => member.available).length;
      const ends = members.flatMap(({ account }) => account.loan?.until ?? []);
      const earliest = available > 0 ? host.clock.millis() : ends.length > 0 ? Math.min(...ends) : undefined;
      const tickets = await library.waiting(req.data.name);
      return {
        data: {
          available,
          earliest: earliest === undefined ? null : iso(earliest),
          waiting: tickets.map((ticket, index) => ({
            position: index + 1,
            ...shownBorrower(ticket),
            since: iso(ticket.since),
            until: iso(ticket.until),
            you: sameBorrower(ticket, you),
          })),
        },
      };
    },
  });

  async function membersOf(set: string) {
    const members = await librarySets.accountsOf(await librarySets.require(set));
    return Promise.all(
      members.map(async ({ key, account }) => {
        const rotation = await accounts.rotation.status(key, account);
        return { account, rotation, available: isFree(account) && rotation.state !== 'taken_over' };
      }),
    );
  }

  return [set, status, waiting, foldersPath('library', sets, { synopsis: 'The names of the sets.', byGet: true })];
}

const BorrowerFields = {
  borrower_name: Type.Optional(Type.String({ description: 'The display name of the token, such as ldap-ann.' })),
  borrower_client_token: Type.Optional(Type.String()),
  borrower_entity_id: Type.Optional(Type.String()),
};

interface Shown extends Partial<ReturnType<typeof shownLoan>> {
  available: boolean;
  rotation: RotationStatus;
}

function shownLoan(loan: Loan, you: Borrower) {
  return {
    ...shownBorrower(loan),
    borrowed_since: iso(loan.since),
    ...(loan.until === undefined ? {} : { borrowed_until: iso(loan.until) }),
    borrowed_by_you: sameBorrower(loan, you),
  };
}

function shownBorrower({ token, entity, displayName = '' }: Borrower) {
  return {
    ...(displayName === '' ? {} : { borrower_name: displayName }),
    borrower_client_token: token,
    ...(entity === '' ? {} : { borrower_entity_id: entity }),
  };
}

function iso(millis: number): string {
  return new Date(millis).toISOString();
}

type Sent = { readonly [K in keyof LibrarySetRecord]: LibrarySetRecord[K] | undefined };

function changed(before: LibrarySetRecord | undefined, sent: Sent): LibrarySetRecord {
  if (!before && sent.service_account_names === undefined) throw new BadRequest("'service_account_names' must be provided");
  const set: LibrarySetRecord = {
    service_account_names: sent.service_account_names ?? before?.service_account_names ?? [],
    ttl: sent.ttl ?? before?.ttl ?? DAY,
    max_ttl: sent.max_ttl ?? before?.max_ttl ?? DAY,
    disable_check_in_enforcement: sent.disable_check_in_enforcement ?? before?.disable_check_in_enforcement ?? false,
  };
  if (set.service_account_names.length === 0) throw new BadRequest('at least one service account must be configured');
  if (set.service_account_names.some((account) => account.trim() === '')) throw new BadRequest('service account name must not be empty');
  if (new Set(set.service_account_names.map(accountKey)).size < set.service_account_names.length) {
    throw new BadRequest('service_account_names: an account is named twice');
  }
  if (set.max_ttl > 0 && set.max_ttl < set.ttl) {
    throw new BadRequest(`max_ttl (${set.max_ttl} seconds) may not be less than ttl (${set.ttl} seconds)`);
  }
  return set;
}
