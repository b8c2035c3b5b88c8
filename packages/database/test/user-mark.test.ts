import { createHash } from 'node:crypto';
import { safeNamePart } from '@strongroom/database-sdk';
import { compileTemplate } from '@strongroom/go-template';
import type { EngineHost } from '@strongroom/engine-sdk';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { UserMark } from '../src/user-mark.ts';

/** As many bytes as are asked for, the same ones in every run. */
function bytesOf(seed: string): (count: number) => Uint8Array {
  let block = 0;
  return (count) => {
    const blocks: Buffer[] = [];
    for (let made = 0; made < count; made += 32)
      blocks.push(
        createHash('sha256')
          .update(`${seed}${(block += 1)}`)
          .digest(),
      );
    return Buffer.concat(blocks).subarray(0, count);
  };
}

async function markOf(seed: string): Promise<UserMark> {
  let stored: unknown;
  const keys = { get: async () => stored, put: async (_id: string, record: unknown) => void (stored = record) };
  const tx = { collection: () => keys };
  const storage = { transaction: async <T>(work: (inside: typeof tx) => Promise<T>) => work(tx) };
  const mark = new UserMark({ storage, randomBytes: bytesOf(seed) } as unknown as EngineHost);
  await mark.load();
  return mark;
}

const TEMPLATES: Readonly<Record<string, string>> = {
  postgresql: '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 8) (.RoleName | truncate 8) (random 20) (unix_time) | truncate 63 }}',
  cassandra:
    '{{ printf "v_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | lowercase }}',
  redis:
    '{{ printf "V_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | uppercase }}',
  mysql: '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 10) (.RoleName | truncate 6) (random 20) (unix_time) | truncate 32 }}',
  decided: '{{ if eq .DisplayName "token" }}t-{{ random 12 }}{{ else }}o{{ .RoleName }}{{ random 20 | lowercase }}{{ end }}',
};

describe('the mark in the names of users', () => {
  let mark: UserMark;
  let other: UserMark;
  beforeAll(async () => {
    [mark, other] = [await markOf('this mount'), await markOf('another mount')];
  });

  const random = bytesOf('names');
  const environment = { now: () => new Date(Date.UTC(2030, 5, 1)), randomBytes: random };
  const namesBy = (source: string, count: number): string[] => {
    const template = compileTemplate(source, { functions: { random: mark.random } });
    const people = ['token', 'oidc-anna@example.com', 'a', 'Zoe Müller', 'ldap-very.long.name-with-more', ''];
    return Array.from({ length: count }, (_, i) =>
      template.render(
        { DisplayName: safeNamePart(people[i % people.length]!), RoleName: ['app', 'r', 'reporting-nightly', 'a.b-c'][i % 4]! },
        environment,
      ),
    );
  };

  test.each(Object.keys(TEMPLATES))('is on every name that a template makes: %s', (which) => {
    for (const name of namesBy(TEMPLATES[which]!, 200)) expect([name, mark.isOn(name)]).toEqual([name, true]);
  });

  test.each(Object.keys(TEMPLATES))('is that of its mount alone: %s', (which) => {
    expect(namesBy(TEMPLATES[which]!, 2_000).filter((name) => other.isOn(name))).toEqual([]);
  });

  test.each([
    ['one that a person made', 'v-app-reporting'],
    ['one of the same shape', 'v-token-r-GiSbsEuVnksX5Jw0oTuG-1795250515'],
    ['a shorter one', 'v-app'],
    ['nothing', ''],
  ])('is not on %s', (_, name) => {
    expect(mark.isOn(name)).toBe(false);
  });

  test('is not on a name in which one letter of it differs, also by its case', () => {
    const [name] = namesBy('v-{{ random 12 }}-x', 1);
    expect(mark.isOn(name!)).toBe(true);
    for (let at = 2; at < 14; at += 1) {
      const char = name!.charAt(at);
      const swapped = char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase();
      const changed = (char2: string): string => name!.slice(0, at) + char2 + name!.slice(at + 1);
      expect(mark.isOn(changed(char === 'a' ? 'b' : 'a'))).toBe(false);
      if (at >= 8 && swapped !== char) expect(mark.isOn(changed(swapped))).toBe(false);
    }
  });

  test('is not there where fewer than twelve characters of random are left', () => {
    for (const source of ['{{ random 11 }}', '{{ random 20 | truncate 11 }}', '{{ random 20 | sha256 }}', '{{ .RoleName }}']) {
      expect(namesBy(source, 50).filter((name) => mark.isOn(name))).toEqual([]);
    }
  });

  test('leaves names as random as six characters and what follows the mark', () => {
    const names = new Set(namesBy('{{ random 12 }}', 5_000));
    expect(names.size).toBe(5_000);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9]{12}$/);
  });
});
