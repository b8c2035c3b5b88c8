import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

const ROOT = new URL('../../../', import.meta.url);
const read = (file: string) => readFile(new URL(file, ROOT), 'utf8');
const page = await read('docs/writing-a-seal.md');
const quotes = [...page.matchAll(/<!-- code of: (\S+) -->\n\n```\w+\n([^]*?)```/g)].map(([, file, code]) => ({ file: file!, code: code! }));

test.each(quotes)('docs/writing-a-seal.md quotes $file as it is', async ({ file, code }) => {
  expect(code).toBe(await read(file));
});

test('docs/writing-a-seal.md quotes the package, the seal and its proof', () => {
  const own = (file: string) => `examples/third-party-seal/${file}`;
  expect(quotes.map(({ file }) => file)).toEqual([own('package.json'), own('plugin.js'), own('test/contract.test.ts')]);
});
