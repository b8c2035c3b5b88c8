import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { metricFamilies } from '@strongroom/server';

const DEPLOY = fileURLToPath(new URL('../../../deploy', import.meta.url));
const RULES = `${DEPLOY}/prometheus/strongroom.rules.yml`;
const METRIC = /\b(?:strongroom|vault|nodejs|process)_[a-z\d_]+/g;
const promtool = spawnSync('promtool', ['--version']).status === 0;
const withPromtool = promtool ? test : test.skip;
const why = promtool ? '' : ' (skipped: promtool is not installed)';

describe('what deploy/ has for monitoring', () => {
  let known: Set<string>;
  beforeAll(async () => {
    known = new Set(
      (await metricFamilies()).flatMap(({ name, type }) => {
        const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : type === 'summary' ? ['', '_sum', '_count'] : [''];
        return parts.map((part) => name + part);
      }),
    );
  });

  test.each([RULES, `${DEPLOY}/prometheus/strongroom.rules.test.yml`, `${DEPLOY}/grafana/strongroom.json`])(
    'names only metrics that a server shows: %s',
    (file) => {
      const expressions = readFileSync(file, 'utf8').replaceAll(/uid": "strongroom"/g, '');
      const named = new Set(expressions.match(METRIC));
      expect(named.size).toBeGreaterThan(3);
      expect([...named].filter((name) => !known.has(name))).toEqual([]);
    },
  );

  test('draws every panel of the dashboard from the chosen data source, inside the grid', () => {
    const { panels } = JSON.parse(readFileSync(`${DEPLOY}/grafana/strongroom.json`, 'utf8')) as {
      panels: { id: number; type: string; gridPos: { x: number; w: number }; targets?: { datasource: { uid: string } }[] }[];
    };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { type, gridPos, targets = [] } of panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      expect(targets.length > 0 || type === 'row').toBe(true);
      expect(targets.every(({ datasource }) => datasource.uid === '${datasource}')).toBe(true);
    }
  });

  withPromtool.each([
    ['the alert rules are correct', ['check', 'rules', RULES]],
    ['the alert rules fire when they should, and not otherwise', ['test', 'rules', `${DEPLOY}/prometheus/strongroom.rules.test.yml`]],
  ])(`%s${why}`, (_what, words) => {
    const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8' });
    expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
  });
});

test('metrics have names and help texts in the form of Prometheus', async () => {
  const families = await metricFamilies();
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
  for (const { name, help, type } of families) {
    expect(name).toMatch(/^[a-z][a-z\d_]*$/);
    expect(help).not.toBe('');
    if (type === 'counter' && name.startsWith('strongroom_')) expect(name).toMatch(/_total$/);
  }
});
