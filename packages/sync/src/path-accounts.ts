import {
  type AnyPath,
  BadRequest,
  type EngineHost,
  type EngineRequest,
  f,
  type Field,
  ListedKeys,
  NoContent,
  orNoContent,
  pageFields,
  path,
  slicePage,
  type Transaction,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { isSyncError, maskedFields, type SyncDestinationPlugin } from '@strongroom/sync-sdk';
import type { DestinationTypes } from './destination-types.ts';
import type { Reconciliation } from './reconciliation.ts';
import { pages, placeOf, recordsIn, type DestinationRecord } from './records.ts';
import type { Retries } from './retries.ts';
import { checkRequired, checkSecretsKnown, merged, partial } from './written-fields.ts';

type Accounts = NonNullable<SyncDestinationPlugin['accounts']>;

/** `github-apps` and the like: accounts that several destinations of a type share. */
export function accountPaths(host: EngineHost, types: DestinationTypes, retries: Retries, reconciliation: Reconciliation): AnyPath[] {
  /** What the old account failed at is tried again with the new one, as after a write of the destination itself. */
  const changed: AccountChange = {
    planned: async (tx, user) => {
      await retries.plan(tx, user);
      await reconciliation.plan(tx, user);
    },
    stored: async (user) => retries.written(user),
  };
  return types.all.flatMap((plugin) => (plugin.accounts ? pathsOf(host, plugin, plugin.accounts, changed) : []));
}

/** What becomes of a destination whose account was written: within the commit, and after it. */
interface AccountChange {
  planned(tx: Transaction, user: DestinationRecord): Promise<void>;
  stored(user: DestinationRecord): Promise<void>;
}

function pathsOf(host: EngineHost, plugin: SyncDestinationPlugin, accounts: Accounts, changed: AccountChange): AnyPath[] {
  const { collection, fields: schema } = accounts;
  const idOf = (name: string): string => `${collection}/${name}`;
  const described = (account: Record<string, unknown>): Readonly<Record<string, unknown>> => {
    try {
      return accounts.describe?.(account) ?? {};
    } catch (error) {
      if (isSyncError(error, 'configuration_invalid')) throw new BadRequest(error.message);
      throw error;
    }
  };
  const shown = (name: string, account: Record<string, unknown>) => ({
    data: { name, ...maskedFields(schema, account), ...described(account) },
  });
  const fields = { name: f.name('Name of the account.'), ...partial(schema) };
  const Account = Type.Object(
    { name: Type.String() },
    { additionalProperties: true, description: 'Its fields, secrets masked, and what the provider says of it.' },
  );

  const write = async (req: Pick<EngineRequest, 'caller' | 'supplied'> & { readonly data: Record<string, unknown> }, patching: boolean) => {
    const name = req.data['name'] as string;
    const written = await host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const before = await records.accounts.get(idOf(name));
      if (!before && patching) return undefined;
      const account = merged(schema, before, req.data, req.supplied);
      checkRequired(schema, account);
      checkSecretsKnown(schema, { before, after: account, sent: req.data, supplied: req.supplied, sudo: req.caller.sudo });
      const answer = shown(name, account);
      await records.accounts.put(idOf(name), account);
      // Sessions opened with the old account must not be used any more.
      const users = await usersOf(records.destinations, name);
      for (const user of users) {
        await records.destinations.put(placeOf(user), { ...user, generation: user.generation + 1 });
        await changed.planned(tx, user);
      }
      return { answer, users };
    });
    for (const user of written?.users ?? []) await changed.stored(user);
    return written?.answer;
  };

  async function usersOf(destinations: ReturnType<typeof recordsIn>['destinations'], name: string) {
    const users = [];
    for await (const page of pages(destinations, `${plugin.name}/`)) {
      for (const [, destination] of page) if (destination.connection[accounts.field] === name) users.push(destination);
    }
    return users;
  }

  return [
    path(collection, { synopsis: `Accounts of ${plugin.title}.`, description: 'Shared by destinations.', fields: pageFields }).list({
      summary: 'Lists the accounts.',
      response: ListedKeys,
      handle: async ({ data }) => {
        const ids = await recordsIn(host.storage).accounts.list({ prefix: idOf('') });
        const keys = slicePage(
          ids.map((id) => id.slice(collection.length + 1)),
          data,
          (name) => name,
        );
        return keys.length === 0 ? undefined : { data: { keys } };
      },
    }),
    path(`${collection}/{name}` as '{name}', {
      synopsis: `An account of ${plugin.title}.`,
      description: 'A write changes what it sends and keeps the rest; "*****" keeps a secret.',
      fields: fields as { name: Field<string> },
    })
      .read({
        summary: 'Reads an account, with its secrets masked.',
        response: Account,
        handle: async ({ data }) => {
          const account = await recordsIn(host.storage).accounts.get(idOf(data.name));
          return account && shown(data.name, account);
        },
      })
      .upsert({
        summary: 'Creates or changes an account.',
        response: Account,
        exists: async ({ data }) => recordsIn(host.storage).accounts.has(idOf(data.name)),
        handle: async (req) => (await write(req, false))!,
      })
      .patch({
        summary: 'Changes an account.',
        response: orNoContent(Account),
        handle: async (req) => (await write(req, true)) ?? { status: 404, data: null },
      })
      .delete({
        summary: 'Deletes an account that no destination uses.',
        response: NoContent,
        handle: async ({ data }) => {
          await host.storage.transaction(async (tx) => {
            const records = recordsIn(tx);
            const [user] = await usersOf(records.destinations, data.name);
            if (user) throw new BadRequest(`${collection}/${data.name} is used by the destination ${placeOf(user)}`);
            await records.accounts.delete(idOf(data.name));
          });
          return undefined;
        },
      }),
  ];
}
