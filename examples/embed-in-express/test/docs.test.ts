import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';

const ROOT = new URL('../../../', import.meta.url);
const QUOTE = /<!-- (file|part of): (\S+) -->\n\n```(?:ts|js)\n([^]*?)```/g;

const pages = (await readdir(new URL('docs/', ROOT))).filter((name) => name.endsWith('.md'));
const quotes = await Promise.all(
  pages.map(async (page) => {
    const text = await readFile(new URL(`docs/${page}`, ROOT), 'utf8');
    const found = [...text.matchAll(QUOTE)].map(([, kind, file, code]) => ({ page, kind, file: file!, code: code! }));
    return { page, found, marks: text.match(/<!-- (?:file|part of): /g)?.length ?? 0 };
  }),
);

describe('code in docs/', () => {
  test.each(quotes)('every quote of $page is followed by its code', ({ found, marks }) => {
    expect(found).toHaveLength(marks);
  });

  test.each(quotes.flatMap(({ found }) => found))('$page quotes $file as it is', async ({ kind, file, code }) => {
    const source = await readFile(new URL(file, ROOT), 'utf8');
    const indent = /^ */.exec(source.split('\n').find((line) => line.trim() === code.split('\n')[0]!.trim()) ?? '')![0];
    const shifted = code.replaceAll(/^(?=.)/gm, indent);
    if (kind === 'file') expect(code).toBe(source);
    else expect(source).toContain(shifted);
  });
});
