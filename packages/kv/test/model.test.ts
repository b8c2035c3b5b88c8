import { describe, expect, test } from '@jest/globals';
import { openFixture, type EngineFixture } from './engine-fixture.ts';

interface ModelVersion {
  data: Record<string, unknown>;
  deletedAt: number;
  destroyed: boolean;
}
interface ModelSecret {
  versions: Map<number, ModelVersion>;
  current: number;
  max: number;
  after: number;
}

/** The same sequence for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** What version 2 means, without any thought of storage. */
class Model {
  readonly secrets = new Map<string, ModelSecret>();
  readonly config = { max: 0, after: 0 };

  add(id: string, data: Record<string, unknown>, now: number): number {
    const secret = this.secrets.get(id) ?? { versions: new Map<number, ModelVersion>(), current: 0, max: 0, after: 0 };
    this.secrets.set(id, secret);
    secret.current += 1;
    const delays = [this.config.after, secret.after].filter((delay) => delay > 0);
    const deletedAt = this.config.after < 0 || delays.length === 0 ? Infinity : now + 1000 * Math.min(...delays);
    secret.versions.set(secret.current, { data, deletedAt, destroyed: false });
    const keep = Math.max(secret.max, this.config.max) || 10;
    for (const number of secret.versions.keys()) if (number <= secret.current - keep) secret.versions.delete(number);
    return secret.current;
  }
}

/** 404 without data, 404 with metadata, or the data. */
const outcome = (answer: unknown): unknown => {
  const found = answer as { data: { data: unknown; metadata: { version: number } } } | undefined;
  return found ? [found.data.metadata.version, found.data.data] : 'none';
};

async function compare(fixture: EngineFixture, model: Model): Promise<void> {
  const now = fixture.clock.millis();
  const keys = [...model.secrets.keys()].sort();
  expect((await fixture.call('list', 'metadata/'))?.data ?? { keys: [] }).toEqual({ keys });
  for (const [id, secret] of model.secrets) {
    const { data } = (await fixture.call('read', `metadata/${id}`)) as { data: { current_version: number; versions: object } };
    expect([data.current_version, Object.keys(data.versions).map(Number)]).toEqual([secret.current, [...secret.versions.keys()]]);
    for (let number = 0; number <= secret.current; number += 1) {
      const actual = number || secret.current;
      const version = secret.versions.get(actual);
      const expected = !version ? 'none' : [actual, version.destroyed || version.deletedAt <= now ? null : version.data];
      expect([id, number, outcome(await fixture.call('read', `data/${id}`, { version: number }))]).toEqual([id, number, expected]);
    }
  }
}

async function step(fixture: EngineFixture, model: Model, random: (below: number) => number, turn: number): Promise<void> {
  const now = fixture.clock.millis();
  const id = ['a', 'b', 'c d'][random(3)]!;
  const secret = model.secrets.get(id);
  const current = secret?.versions.get(secret.current);
  const live = (version: ModelVersion | undefined): boolean => version !== undefined && !version.destroyed && version.deletedAt > now;
  const numbers = Array.from({ length: 1 + random(3) }, () => 1 + random((secret?.current ?? 1) + 1));
  const each = (change: (version: ModelVersion) => void): void => {
    for (const number of numbers) {
      const version = secret?.versions.get(number);
      if (version && !version.destroyed) change(version);
    }
  };
  switch (random(13)) {
    case 0:
    case 1:
    case 2: {
      const data = { turn, fill: random(3) ? 'x' : 'x'.repeat(9_000) };
      const answer = await fixture.call('update', `data/${id}`, { data });
      expect(answer?.data).toMatchObject({ version: model.add(id, data, now) });
      return;
    }
    case 3: {
      const cas = random((secret?.current ?? 0) + 2);
      const answer = fixture.call('update', `data/${id}`, { data: { turn }, options: { cas } });
      if (cas !== (secret?.current ?? 0)) return expect(answer).rejects.toThrow('check-and-set');
      expect((await answer)?.data).toMatchObject({ version: model.add(id, { turn }, now) });
      return;
    }
    case 4:
    case 5: {
      const answer = await fixture.call('patch', `data/${id}`, { data: { fill: null, [`p${turn}`]: turn } });
      if (!live(current)) return expect(answer?.status).toBe(404);
      const { fill: _removed, ...kept } = current!.data;
      expect(answer?.data).toMatchObject({ version: model.add(id, { ...kept, [`p${turn}`]: turn }, now) });
      return;
    }
    case 6:
      await fixture.call('delete', `data/${id}`);
      if (live(current)) current!.deletedAt = now;
      return;
    case 7:
      await fixture.call('update', `delete/${id}`, { versions: numbers });
      return each((version) => (version.deletedAt = Math.min(version.deletedAt, now)));
    case 8:
      await fixture.call('update', `undelete/${id}`, { versions: numbers.join(',') });
      return each((version) => (version.deletedAt = Infinity));
    case 9:
      await fixture.call('update', `destroy/${id}`, { versions: numbers });
      return each((version) => (version.destroyed = true));
    case 10: {
      const settings = { max: random(5), after: random(3) * 40 };
      await fixture.call('update', `metadata/${id}`, { max_versions: settings.max, delete_version_after: settings.after });
      model.secrets.set(id, { versions: new Map(), current: 0, ...secret, ...settings });
      return;
    }
    case 11: {
      Object.assign(model.config, { max: random(4), after: (random(4) - 1) * 50 });
      await fixture.call('update', 'config', { max_versions: model.config.max, delete_version_after: model.config.after });
      return;
    }
    default:
      if (random(3)) return fixture.clock.advance(random(60));
      await fixture.call('delete', `metadata/${id}`);
      model.secrets.delete(id);
  }
}

describe('a random sequence of calls', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('agrees with a naive model (seed %i)', async (seed) => {
    const fixture = await openFixture('2');
    const model = new Model();
    const random = randomOf(seed);
    for (let turn = 0; turn < 250; turn += 1) {
      await step(fixture, model, random, turn);
      if (turn % 5 === 0) await compare(fixture, model);
    }
    await compare(fixture, model);
    expect([...model.secrets.values()].some((secret) => secret.current > 3)).toBe(true);
  });
});
