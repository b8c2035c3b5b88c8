import { describe, expect, test } from '@jest/globals';
import { CONTRACT_CASES, engineContract, type ContractCase, type EngineContract } from '../src/index.ts';
import { notesEngine, type Fault } from './notes-engine.ts';

const contract = (fault?: Fault): EngineContract => ({
  engine: notesEngine(fault),
  readsWithEffect: ['keys/{name}'],
  async prepare(mount) {
    await mount.write('notes/first', { text: 'hello', pin: '1234', keep: '1h' });
    await mount.read('keys/first');
    return { name: ['first'] };
  },
  leavesOutside: [{ kind: 'note key', name: /^first$/ }],
});

engineContract({ describe, test }, contract());

/** Runs the contract with a runner of our own and resolves with the titles that failed. */
async function failures(tried: EngineContract): Promise<string[]> {
  const cases: [string, () => Promise<void>][] = [];
  engineContract({ describe: (_, body) => body(), test: (title, run) => cases.push([title, run]) }, tried);
  const failed: string[] = [];
  for (const [title, run] of cases) await run().catch(() => failed.push(title));
  return failed;
}

describe('the engine contract', () => {
  test.each<[Fault, ContractCase]>([
    ['crashes on garbage', 'garbage on an unconfigured mount is refused with a 4xx'],
    ['does not describe a field', 'every path is described, every operation has a summary, every field says what it is'],
    ['shows a secret', 'no secret field is shown'],
    ['leaves a lease behind', 'unmounting leaves nothing of the mount in the store'],
    ['does not say what it leaves outside', 'a forced unmount names what is left outside, and holds no secret'],
    ['tells secrets of what it leaves outside', 'a forced unmount names what is left outside, and holds no secret'],
    ['keeps state in memory', 'everything is still there after sealing and unsealing'],
    ['shares state between mounts', 'two mounts know nothing of each other'],
    ['closes once', 'closing an engine twice, or one that never started, is no fault'],
    ['two secret types of one name', 'secret types, intents and schedules have names of their own'],
  ])('an engine that %s fails "%s"', async (fault, title) => {
    expect(await failures(contract(fault))).toContain(title);
  });

  test('a case is left out only by its name and with a reason', () => {
    const runner = { describe: (_: string, body: () => void) => body(), test: () => undefined };
    expect(() =>
      engineContract(runner, { ...contract(), skip: [{ test: 'nope' as ContractCase, reason: 'it does not apply here' }] }),
    ).toThrow('no case "nope"');
    expect(() => engineContract(runner, { ...contract(), skip: [{ test: CONTRACT_CASES[0], reason: 'no' }] })).toThrow('needs a reason');
  });
});
