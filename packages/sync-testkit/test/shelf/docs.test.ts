import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';

const ROOT = new URL('../../../../', import.meta.url);
const read = (file: string) => readFile(new URL(file, ROOT), 'utf8');
const page = await read('docs/writing-a-sync-destination.md');
const quotes = [...page.matchAll(/<!-- code of: (\S+) -->\n\n```ts\n([^]*?)```/g)].map(([, file, code]) => ({ file: file!, code: code! }));

describe('docs/writing-a-sync-destination.md', () => {
  test.each(quotes)('quotes $file as it is', async ({ file, code }) => {
    expect(code).toBe(await read(file));
  });

  test('quotes the destination, its session, its errors, its proof and the other side', () => {
    const files = ['shelf-destination', 'open-shelf', 'shelf-errors', 'contract.test', 'shelf-server'];
    expect(quotes.map(({ file }) => file)).toEqual(files.map((name) => `packages/sync-testkit/test/shelf/${name}.ts`));
  });
});
