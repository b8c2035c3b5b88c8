import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

const ROOT = new URL('../../../', import.meta.url);
const read = (file: string) => readFile(new URL(file, ROOT), 'utf8');
const page = await read('docs/writing-a-database-plugin.md');
const quotes = [...page.matchAll(/<!-- code of: (\S+) -->\n\n```\w+\n([^]*?)```/g)].map(([, file, code]) => ({ file: file!, code: code! }));

test.each(quotes)('docs/writing-a-database-plugin.md quotes $file as it is', async ({ file, code }) => {
  expect(code).toBe(await read(file));
});

test('docs/writing-a-database-plugin.md quotes the package, the plugin and its proof', () => {
  const own = (file: string) => `examples/third-party-database-plugin/${file}`;
  expect(quotes.map(({ file }) => file)).toEqual([own('package.json'), own('plugin.js'), own('test/contract.test.ts')]);
});

test('the plugin has at most 60 lines', async () => {
  expect((await read('examples/third-party-database-plugin/plugin.js')).trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});
