import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

/** Puts a folder with these files into the place of `ui`, as often as asked. */
const SCRIPT = `
  import { mkdirSync, writeFileSync } from 'node:fs';
  import { replaceFolder } from ${JSON.stringify(new URL('../scripts/replace-folder.js', import.meta.url).href)};
  const [name, times, ...files] = process.argv.slice(1);
  for (let at = 0; at < times; at += 1) {
    mkdirSync(name);
    for (const file of files) writeFileSync(name + '/' + file, name + at);
    replaceFolder(name, 'ui');
  }`;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'strongroom-folder-'));
});
afterEach(() => rmSync(root, { recursive: true }));

async function build(name: string, times: number, files: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', SCRIPT, name, String(times), ...files], { cwd: root });
}

test('a build takes the place of the one before it, and nothing of that is left', async () => {
  await build('first', 1, ['index.html', 'old.js']);
  await build('second', 1, ['index.html', 'new.js']);
  expect(readdirSync(join(root, 'ui')).sort()).toEqual(['index.html', 'new.js']);
  expect(readdirSync(root)).toEqual(['ui']);
});

test('of several builds that end at once, the files of one are there, and none fails', async () => {
  await Promise.all(['one', 'two', 'three'].map(async (name) => build(name, 300, ['a', 'b', 'c'])));
  expect(readdirSync(root)).toEqual(['ui']);
  const [first, ...others] = ['a', 'b', 'c'].map((file) => readFileSync(join(root, 'ui', file), 'utf8'));
  expect(others).toEqual([first, first]);
}, 60_000);
