import { expect, test } from '@jest/globals';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import fc from 'fast-check';
import { CloudFailed, cloudEngine, CloudRefused, type CloudProvider, type CloudSession } from '../src/index.ts';
import { AcmeCloud, type KeysOfUser } from './acme-provider.ts';

/** What becomes of a call to the provider. */
type Fate = 'refused' | 'unsent' | 'lost before' | 'lost after';

const calls = ['createKey', 'listKeys', 'deactivateKey', 'deleteKey', 'accepts'] as const;
type Call = (typeof calls)[number];

interface Fault {
  readonly call: Call;
  readonly fate: Fate;
}

/** One thing that happens, and the calls that fail meanwhile, each once. */
interface Step {
  readonly does: 'rotate' | 'wait for the plan' | 'restart';
  readonly faults: readonly Fault[];
  /** The process dies when it asks for one more commit than these. */
  readonly commits: number | undefined;
}

/** The provider, with the faults that a test adds. */
class FaultyCloud {
  readonly cloud = new AcmeCloud();
  readonly faults: Fault[] = [];
  readonly provider: CloudProvider = { ...this.cloud.provider, open: (settings) => this.#faulty(this.cloud.provider.open(settings)) };

  #faulty(session: CloudSession): CloudSession {
    const at = async <T>(call: Call, work: () => Promise<T>): Promise<T> => {
      const index = this.faults.findIndex((fault) => fault.call === call);
      const fate = index < 0 ? undefined : this.faults.splice(index, 1)[0]!.fate;
      const fault = { provider: 'Acme', code: 'Fault', text: `${call}: ${fate ?? ''}`, requestId: '' };
      if (fate === 'refused') throw new CloudRefused({ ...fault, outcome: 'refused' });
      if (fate === 'unsent') throw new CloudFailed({ ...fault, outcome: 'unsent' });
      const result = fate === 'lost before' ? undefined : await work();
      if (fate === undefined) return result as T;
      throw new CloudFailed({ ...fault, outcome: 'unknown' });
    };
    return {
      ...session,
      createKey: async (...args) => at('createKey', async () => session.createKey(...args)),
      listKeys: async (...args) => at('listKeys', async () => session.listKeys(...args)),
      deactivateKey: async (...args) => at('deactivateKey', async () => session.deactivateKey(...args)),
      deleteKey: async (...args) => at('deleteKey', async () => session.deleteKey(...args)),
      accepts: async (...args) => at('accepts', async () => session.accepts(...args)),
    };
  }
}

const fault: fc.Arbitrary<Fault> = fc.record({
  call: fc.constantFrom(...calls),
  fate: fc.constantFrom<Fate>('refused', 'unsent', 'lost before', 'lost after'),
});
const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('rotate', 'rotate', 'wait for the plan', 'restart'),
  faults: fc.array(fault, { maxLength: 3 }),
  commits: fc.option(fc.nat(6), { nil: undefined }),
});

test('a walk through the table of rotations with keys: the key that is answered works, and no other is left, wherever a call fails or the process dies', async () => {
  const walk = async (creation: Step, steps: readonly Step[]): Promise<void> => {
    const { cloud, provider, faults } = new FaultyCloud();
    const keys: KeysOfUser = new Map();
    cloud.users.set('robot', { id: 'u', tags: {}, keys });
    let server: KillableMount = await killableMount(cloudEngine(provider));
    const create = async () => server.ask('update', 'acme/static-roles/robot', { username: 'robot', rotation_period: '24h' });
    const take = async ({ commits, faults: next }: Step, work: () => Promise<unknown>): Promise<void> => {
      faults.push(...next);
      if (commits !== undefined) server.storage.dieAfter(commits);
      await server.diesIn(work());
      if (commits !== undefined) server = await server.restart();
      faults.length = 0;
    };
    const answered = async (): Promise<string | undefined> => {
      const { status, data } = await server.ask('read', 'acme/static-creds/robot');
      // 404: not created. 503: the first key is being made, or the current one made room for the next.
      if (status === 404 || status === 503) return undefined;
      const { access_key } = data as { readonly access_key: string };
      expect([...keys.keys()]).toContain(access_key);
      return access_key;
    };
    try {
      await server.write('config/root', { access_key: 'k0', secret_key: 's' });
      await take(creation, create);
      await answered();
      await server.pass(400);
      if ((await server.ask('read', 'acme/static-roles/robot')).status === 404) {
        expect([...keys.keys()]).toEqual([]);
        await create();
      }
      for (const each of steps) {
        if (each.does === 'rotate') await take(each, async () => server.ask('update', 'acme/rotate-role/robot'));
        if (each.does === 'wait for the plan') await take(each, async () => server.advance('24h'));
        if (each.does === 'restart') server = await server.restart();
        await answered();
      }
      // Whatever was begun at the provider is brought to its end.
      await server.pass(900);
      expect([await answered()]).toEqual([...keys.keys()]);
      // What was refused waits for the plan.
      await server.advance('24h');
      await server.pass(900);
      expect([await answered()]).toEqual([...keys.keys()]);
      expect((await server.read('static-roles/robot')).data).toMatchObject({ status: { state: 'waiting', last_error: null } });
    } finally {
      await server.close();
    }
  };
  await fc.assert(fc.asyncProperty(step, fc.array(step, { minLength: 1, maxLength: 6 }), walk), { numRuns: 60 });
}, 120_000);
