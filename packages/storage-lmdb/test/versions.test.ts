import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Environment } from '../src/environment.ts';
import { Versions } from '../src/versions.ts';

test('versions come in blocks that no two drivers share, and a block that is used up is followed by a new one', async () => {
  const path = mkdtempSync(join(tmpdir(), 'strongroom-lmdb-'));
  const environment = await Environment.open(path);
  const [one, two] = [new Versions(environment), new Versions(environment)];
  expect(one.next()).toBeUndefined();
  await Promise.all([one.take(), two.take()]);
  const other = two.next() as number;
  let last = one.next() as number;
  for (let version = one.next(); version !== undefined; version = one.next()) {
    if (version !== last + 1) throw new Error('versions of one block follow each other');
    last = version;
  }
  await Promise.all([one.take(), one.take()]);
  const next = one.next() as number;
  expect(new Set([last, other, next].map((version) => Versions.blockOf(version))).size).toBe(3);
  expect([...one.own].map((block) => two.own.has(block))).toEqual([false, false]);
  await environment.close();
  rmSync(path, { recursive: true });
});
