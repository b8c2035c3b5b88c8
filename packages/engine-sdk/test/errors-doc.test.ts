import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as catalogue from '../src/errors.ts';

const PAGE = new URL('../../../docs/errors.md', import.meta.url);

describe('docs/errors.md', () => {
  /** Status and form by class, as the page has them. */
  const documented = new Map<string, string>();

  beforeAll(async () => {
    for (const line of (await readFile(PAGE, 'utf8')).split('\n')) {
      const [, name, status, form] = /^\| `(\w+)`\s*\| (\d{3})\s*\| (\w+)\s*\|/.exec(line) ?? [];
      if (name) documented.set(name, `${status} ${form}`);
    }
  });

  const classes = Object.entries(catalogue).filter(
    (entry): entry is [string, typeof catalogue.EngineError] =>
      typeof entry[1] === 'function' && (entry[1] === catalogue.EngineError || entry[1].prototype instanceof catalogue.EngineError),
  );

  test('lists every class with its status and form', () => {
    expect(classes.length).toBeGreaterThan(10);
    for (const [name, Class] of classes) {
      const error = new Class('text');
      expect(`${name}: ${documented.get(name)}`).toBe(`${name}: ${error.status} ${error.form}`);
    }
  });

  test('lists no class that does not exist', () => {
    expect([...documented.keys()].filter((name) => !classes.some(([known]) => known === name))).toEqual([]);
  });
});
