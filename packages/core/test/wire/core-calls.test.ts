import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kvEngine } from '@strongroom/kv';
import { memoryStorage } from '@strongroom/storage-sdk';
import { createCore, type Core } from '../../src/index.ts';
import { ask, bodyOf } from './caller.ts';
import { compareShapes, recordedCalls, shapeOf, type RecordedCall } from './recorded-call.ts';

/** Keys beyond the recorded ones, on purpose. The README says why. */
const DELIBERATE: readonly RegExp[] = [];

describe('the recorded calls of command-line clients', () => {
  let core: Core;
  const kept = new Map<string, string>();
  const filled = (text: string): string => text.replace(/\$(\w+)/g, (whole, name: string) => kept.get(name) ?? whole);

  beforeAll(async () => {
    core = await createCore({ storage: memoryStorage(), plugins: [kvEngine], devRootToken: 'root' });
    const mounted = await ask(core, 'POST sys/mounts/secret', { token: 'root', body: { type: 'kv', options: { version: '2' } } });
    expect(mounted.status).toBe(204);
  });
  afterAll(async () => core.close());

  const run = async (recorded: RecordedCall): Promise<void> => {
    const token = recorded.token ?? (recorded.as === undefined ? 'root' : recorded.as === 'nobody' ? undefined : kept.get(recorded.as)!);
    const sent = recorded.body === undefined ? undefined : (JSON.parse(filled(JSON.stringify(recorded.body))) as unknown);
    const answer = await ask(core, filled(recorded.call), { token, wrap: recorded.wrap, body: sent });
    const body = bodyOf(answer);
    for (const [name, place] of Object.entries(recorded.keep ?? {})) kept.set(name, dig(body, place));
    expect(answer.status).toBe(recorded.status);
    if (recorded.shape === undefined && recorded.errors === undefined) return;
    expect(answer.errors).toEqual(recorded.errors);
    if (recorded.shape !== undefined) {
      const { wrong, extra } = compareShapes(recorded.shape, shapeOf(body));
      expect({ wrong, extra: extra.filter((key) => !DELIBERATE.some((known) => known.test(key))) }).toEqual({ wrong: [], extra: [] });
    }
    if (recorded.data !== undefined) expect(answer.data).toEqual(recorded.data);
  };

  for (const [index, recorded] of recordedCalls('core-calls.json').entries()) {
    const who = recorded.as ?? (recorded.token === undefined ? 'root' : 'a stranger');
    test(`${index + 1}. ${recorded.call} as ${who}`, async () => run(recorded));
  }
});

function dig(body: unknown, place: string): string {
  return place.split('.').reduce((inner, key) => (inner as Record<string, unknown>)[key], body) as string;
}
