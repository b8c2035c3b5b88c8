import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCurrent } from './browser/built-pages.ts';

let root: string;
const at = (path: string): string => join(root, path);
const changedAt = (path: string, seconds: number): void => utimesSync(at(path), seconds, seconds);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'strongroom-pages-'));
  mkdirSync(at('web/app'), { recursive: true });
  writeFileSync(at('web/app/main.tsx'), '');
  writeFileSync(at('files.json'), '{}');
  for (const path of ['web', 'web/app', 'web/app/main.tsx']) changedAt(path, 1_000);
  changedAt('files.json', 2_000);
});
afterEach(() => rmSync(root, { recursive: true }));

const current = (): boolean => isCurrent(at('files.json'), at('web'));

test('pages that were built after the last change are kept', () => {
  expect(current()).toBe(true);
});

test('pages that nobody has built are built', () => {
  rmSync(at('files.json'));
  expect(current()).toBe(false);
});

test.each(['web/app/main.tsx', 'web/app', 'web'])('pages are built again when %s changed since', (path) => {
  changedAt(path, 2_001);
  expect(current()).toBe(false);
});
