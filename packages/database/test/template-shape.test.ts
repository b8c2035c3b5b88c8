import { compileTemplate } from '@strongroom/go-template';
import { safeNamePart } from '@strongroom/database-sdk';
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ShapeUnknown, shapesOf } from '../src/template-shape.ts';

const NOW = Date.UTC(2030, 5, 1);
const DEFAULTS: Readonly<Record<string, string>> = {
  postgresql: '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 8) (.RoleName | truncate 8) (random 20) (unix_time) | truncate 63 }}',
  mysql: '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 10) (.RoleName | truncate 10) (random 20) (unix_time) | truncate 32 }}',
  aurora: '{{ printf "v-%s-%s" (.RoleName | truncate 4) (random 20) | truncate 16 }}',
  cassandra:
    '{{ printf "v_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | lowercase }}',
  redis:
    '{{ printf "V_%s_%s_%s_%s" (.DisplayName | truncate 15) (.RoleName | truncate 15) (random 20) (unix_time) | truncate 100 | replace "-" "_" | uppercase }}',
  uuid: 'app-{{ uuid }}',
  decided: '{{ if eq .DisplayName "token" }}t-{{ random 12 }}{{ else }}o-{{ .RoleName }}-{{ random 20 | lowercase }}{{ end }}',
  hashed: 'svc_{{ random 32 | sha256 | truncate 20 }}',
  millis: '{{ .RoleName | uppercase | replace "-" "" }}.{{ unix_time_millis }}.{{ random 10 }}',
};
const fits = (source: string, name: string, now = NOW) => shapesOf(source).some((shape) => shape.fits(name, now));

describe('the shape of the names that a username_template makes', () => {
  test.each(Object.keys(DEFAULTS))('fits every name that it makes: %s', (which) => {
    const source = DEFAULTS[which]!;
    const template = compileTemplate(source);
    const environment = { now: () => new Date(NOW), randomBytes: (count: number) => randomBytes(count) };
    const people = ['token', 'oidc-anna@example.com', 'a', 'Zoe Müller', 'ldap-very.long.name-with-more', ''];
    let missed = 0;
    for (let i = 0; i < 400; i += 1) {
      const data = { DisplayName: safeNamePart(people[i % people.length]!), RoleName: ['app', 'r', 'reporting-nightly', 'a.b-c'][i % 4]! };
      if (!fits(source, template.render(data, environment))) missed += 1;
    }
    // Of short random runs a few are of one kind of character alone, and are left out.
    expect(missed).toBeLessThanOrEqual(8);
  });

  const pg = DEFAULTS['postgresql']!;
  test.each([
    ['one that a person made', 'v-app-reporting'],
    ['another literal', 'w-token-r-GiSbsEuVnksX5Jw0oTuG-1795250515'],
    ['a random part that is too short', 'v-token-r-GiSbsEuVnksX5Jw0oTu-1795250515'],
    ['a random part with what is no letter or digit', 'v-token-r-GiSbsEuVnks_5Jw0oTuG-1795250515'],
    ['a random part of one kind of character', 'v-token-r-abcdefghijklmnopqrst-1795250515'],
    ['a time that is no number', 'v-token-r-GiSbsEuVnksX5Jw0oTuG-179525051x'],
    ['a time in the future', 'v-token-r-GiSbsEuVnksX5Jw0oTuG-9795250515'],
    ['a time long ago', 'v-token-r-GiSbsEuVnksX5Jw0oTuG-0795250515'],
    ['a display name that is too long', 'v-token-too-long-r-GiSbsEuVnksX5Jw0oTuG-1795250515'],
    ['more behind it', 'v-token-r-GiSbsEuVnksX5Jw0oTuG-1795250515-copy'],
    ['more before it', 'my-v-token-r-GiSbsEuVnksX5Jw0oTuG-1795250515'],
    ['nothing', ''],
  ])('does not fit %s', (_, name) => {
    expect(fits(pg, 'v-token-r-GiSbsEuVnksX5Jw0oTuG-1795250515')).toBe(true);
    expect(fits(pg, name)).toBe(false);
  });

  test('fits a name that was cut only where it is as long as it can be', () => {
    const mysql = DEFAULTS['mysql']!;
    expect(fits(mysql, 'v-token-app-GiSbsEuVnksX5Jw0oTuG')).toBe(true);
    expect(fits(mysql, 'v-token-app-GiSbsEuVnksX5Jw0oTu')).toBe(false);
    expect(fits(DEFAULTS['aurora']!, 'v-app-X5Jw0oTuGq')).toBe(true);
    expect(fits(DEFAULTS['aurora']!, 'v-app-backupuser')).toBe(false);
  });

  test('names the text that every name begins with', () => {
    const prefixes = (source: string) => shapesOf(source).map((shape) => shape.prefix);
    expect(prefixes(pg)).toEqual(['v-']);
    expect(prefixes(DEFAULTS['redis']!)).toEqual(['V_']);
    expect(prefixes(DEFAULTS['decided']!)).toEqual(['o-', 't-']);
    expect(prefixes('{{ random 20 }}')).toEqual(['']);
  });

  test.each([
    ['{{ .DisplayName }}', false],
    ['{{ .RoleName }}-{{ random 4 }}', false],
    ['{{ .DisplayName }}-{{ random 20 | truncate 30 }}', true],
    ['{{ printf "%s-%s" .DisplayName (random 20) | truncate 30 }}', false],
    ['static', false],
    [pg, true],
    [DEFAULTS['mysql']!, true],
    [DEFAULTS['aurora']!, true],
  ])('tells whether there is enough in it that is random: %s', (source, telling) => {
    expect(shapesOf(source).every((shape) => shape.telling)).toBe(telling);
  });

  test.each([
    ['{{ slice .DisplayName 0 3 }}', 'it uses slice'],
    ['{{ printf "%8s" .DisplayName }}', 'it uses printf with %8s'],
    ['{{ random 20 | replace "ab" "c" }}', 'it replaces more than single characters'],
    ['{{ printf "%s-%s" .DisplayName .RoleName | truncate 20 | truncate 10 }}', 'it cuts what it has cut'],
    ['{{ .RoleName | truncate_sha256 20 }}', 'it uses truncate_sha256 on what is longer'],
  ])('is unknown for what cannot be followed: %s', (source, reason) => {
    expect(() => shapesOf(source)).toThrow(ShapeUnknown);
    expect(() => shapesOf(source)).toThrow(reason);
  });
});
