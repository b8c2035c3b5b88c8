import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readReference, renderReference } from '../src/reference/reference.ts';

const FOLDER = fileURLToPath(new URL('../../../docs/reference', import.meta.url));

describe('docs/reference', () => {
  let rendered: Map<string, string>;
  let stored: Map<string, string>;

  beforeAll(async () => {
    rendered = await renderReference();
    stored = await readReference(FOLDER);
  });

  test('has a page for everything that a server offers, and no other', () => {
    expect([...stored.keys()].sort()).toEqual([...rendered.keys()].sort());
  });

  test('says what the declarations say; if not, run npm run reference', () => {
    for (const [name, page] of rendered) expect({ name, page: stored.get(name) }).toEqual({ name, page });
  });

  test('describes every path, operation and field in words', () => {
    const mounts = [...rendered].filter(([name]) => name !== 'configuration.md');
    const gaps = mounts.flatMap(([name, page]) =>
      page.split('\n').flatMap((line) => (/^\| .*\|\s+\|$/.test(line) ? [`${name}: ${line}`] : [])),
    );
    expect(gaps).toEqual([]);
  });
});
