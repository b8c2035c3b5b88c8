import { API_VERSION, BadRequest, f, InvalidRequest, path, UpstreamFailed, type EnginePackage } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import {
  manualPlan,
  ownState,
  planOf,
  Rotation,
  rotationPlanFields,
  rotationPlanParameters,
  rotationStateFields,
  RotationStatus,
  warned,
  type Outcome,
} from '../src/index.ts';

export const Account = Type.Object({ of: Type.Optional(Type.String()), ...rotationPlanFields, ...rotationStateFields(Type.String()) });
type Account = Static<typeof Account>;

/** What happens to the next change that is asked for. */
export type Fate =
  | 'done'
  | 'refused'
  | 'unsent'
  | 'misused'
  | 'lost before'
  | 'lost after'
  | 'lost with all'
  | 'half refused'
  | 'acknowledged only'
  | 'done and gone'
  | 'late';

class Failed extends UpstreamFailed {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    super(`the outside ${outcome === 'refused' ? 'refuses' : 'is gone'}`);
    this.outcome = outcome;
  }
}

/** Something outside with passwords of accounts, whose behaviour a test sets. It outlives the servers that use it. */
export class Outside {
  readonly passwords = new Map<string, string>();
  readonly fates: Fate[] = [];
  readonly #late = new Map<string, string>();
  changes = 0;
  /** Nothing can be tried or changed. */
  down = false;
  /** Done while a change is under way. */
  meanwhile: (() => Promise<void>) | undefined;
  /** Any password is taken. */
  trusting = false;

  change(account: string, password: string): void {
    if (this.down) throw new Failed('unsent');
    const fate = this.fates.shift() ?? 'done';
    if (fate === 'unsent') throw new Failed('unsent');
    if (fate === 'misused') throw new InvalidRequest('no such change can be made');
    if (fate === 'refused') throw new Failed('refused');
    if (fate === 'lost before') throw new Failed('unknown');
    if (fate === 'acknowledged only') return;
    this.changes += 1;
    if (fate === 'late') {
      this.#late.set(account, password);
      return;
    }
    // What is older does not come into force any more.
    this.#late.delete(account);
    this.passwords.set(account, password);
    if (fate === 'lost with all' || fate === 'done and gone') this.down = true;
    if (fate === 'half refused') throw new Failed('refused');
    if (fate.startsWith('lost')) throw new Failed('unknown');
  }

  /** What was acknowledged comes into force. */
  arrive(): void {
    for (const [account, password] of this.#late) this.passwords.set(account, password);
    this.#late.clear();
  }

  takes(account: string, password: string): boolean {
    if (this.down) throw new Failed('unsent');
    return this.trusting || this.passwords.get(account) === password;
  }
}

/** An engine of accounts, as small as one can be on `Rotation`. */
export function accountsEngine(outside: Outside, options: { ofItself?: boolean; identified?: () => boolean } = {}): EnginePackage {
  const identified = options.identified ?? (() => true);
  const accountOf = (name: string, of: string | undefined) => ({ system: 'outside', name: of ?? name });
  return {
    name: 'accounts',
    kind: 'secret',
    apiVersion: API_VERSION,
    create: (host) => {
      let made = 0;
      const rotation = new Rotation<Account, string>(host, {
        kind: 'rotate-account',
        noun: 'account',
        lens: ownState<Account, string>(),
        records: (storage) => storage.collection('account/', Account),
        plan: (account) => account,
        target: () => 'outside',
        make: async () => `${(made += 1)}-${Buffer.from(host.randomBytes(9)).toString('base64url')}`,
        apply: async ({ id, record, candidate }) => {
          if (options.ofItself && record.current !== undefined && !outside.takes(id, record.current)) throw new Failed('unsent');
          outside.change(id, candidate);
          await outside.meanwhile?.();
        },
        outcomeOf: (error) => (error instanceof Failed ? error.outcome : error instanceof InvalidRequest ? 'unsent' : 'unknown'),
        messageOf: (error) => (error as Error).message,
        prove: async ({ id, record, candidate }) => {
          if (outside.takes(id, 'never')) return 'unprovable';
          if (outside.takes(id, candidate)) return 'candidate';
          return record.current !== undefined && outside.takes(id, record.current) ? 'current' : 'neither';
        },
        keepsPrevious: true,
        ...(options.ofItself ? { ofItself: true } : {}),
        subject: ({ of }) => of ?? 'itself',
        claims: {
          by: (id) => `account "${id}"`,
          called: ({ of, managed_account }) => of ?? managed_account?.name ?? 'itself',
          identify: async (id, { of }) => (identified() ? accountOf(id, of) : undefined),
        },
        missing: (id) => new InvalidRequest(`no account ${id}`),
      });
      const accounts = host.storage.collection('account/', Account);
      const account = path('account/{name}', {
        synopsis: 'Accounts.',
        description: 'Accounts outside.',
        fields: {
          name: f.name('Name.'),
          of: f.string('Whose.'),
          imported: f.bool('Rotate by the plan only.'),
          adopt: f.bool('Take the account over.'),
          ...rotationPlanParameters,
        },
      })
        .read({
          summary: 'Reads.',
          response: Type.Object({
            password: Type.Optional(Type.String()),
            previous: Type.Optional(Type.String()),
            doubtful: Type.Optional(Type.Boolean()),
            taken_over: Type.Optional(Type.String()),
            next: Type.Number(),
            status: RotationStatus,
          }),
          handle: async ({ data: { name }, signal }) => {
            const record = await accounts.get(name);
            if (!record) return undefined;
            const found = await rotation.current(name, signal);
            return {
              data: {
                ...(found ? { password: found.credential, doubtful: found.doubtful } : {}),
                ...(found?.takenOver === undefined ? {} : { taken_over: found.takenOver }),
                ...(found?.record.previous === undefined ? {} : { previous: found.record.previous }),
                next: record.next_rotation,
                status: await rotation.status(name, record),
              },
            };
          },
        })
        .upsert({
          summary: 'Writes.',
          exists: async ({ data }) => accounts.has(data.name),
          handle: async ({ data: { name, imported, adopt, of, ...sent }, signal }) => {
            const before = await accounts.get(name);
            const plan = Object.keys(sent).length === 0 ? manualPlan : planOf(before, sent);
            const record: Account = {
              ...(before ?? { last_rotation: 0, next_rotation: 0, ...(identified() ? { managed_account: accountOf(name, of) } : {}) }),
              ...plan,
              ...(of === undefined ? {} : { of }),
            };
            if (before?.current) {
              await host.storage.transaction(async (tx) => {
                await rotation.update(tx, name, before, record);
                if (adopt) await rotation.takeBack(tx, name);
              });
            } else if (imported) await host.storage.transaction(async (tx) => rotation.adopt(tx, name, record, { adopt }));
            else {
              const check = async () => {
                if (name === 'forbidden') throw new BadRequest('name: not this one');
              };
              return warned(await rotation.create(name, record, signal, { check, adopt }));
            }
            return undefined;
          },
        })
        .delete({
          summary: 'Deletes.',
          handle: async ({ data }) => {
            await host.storage.transaction(async (tx) => rotation.remove(tx, data.name));
            return undefined;
          },
        });
      const rotate = path('rotate/{name}', { synopsis: 'Rotation.', description: 'Now.', fields: { name: f.name('Name.') } }).update({
        summary: 'Rotates.',
        handle: async ({ data, signal }) => {
          return warned(await rotation.rotate(data.name, signal));
        },
      });
      const demand = path('demand/{name}', { synopsis: 'Demand.', description: 'Until done.', fields: { name: f.name('Name.') } }).update({
        summary: 'Demands a rotation.',
        handle: async ({ data: { name } }) => {
          const record = await accounts.get(name);
          if (record) await host.storage.transaction(async (tx) => rotation.demand(tx, name, record));
          return undefined;
        },
      });
      return { paths: [account, rotate, demand], schedules: [rotation.job] };
    },
  };
}
