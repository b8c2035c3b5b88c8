import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { servedDocument } from '../src/reference/served-mounts.ts';

const tsc = fileURLToPath(new URL('../../../node_modules/ts7/bin/tsc', import.meta.url));
const generator = join(dirname(createRequire(import.meta.url).resolve('openapi-typescript')), '..', 'bin', 'cli.js');

/** A client's program on the generated types. The line below `@ts-expect-error` must not compile. */
const PROGRAM = `
import type { operations, paths } from './api.ts';

type Created = paths['/kv-v2/data/{path}']['post']['responses'];
declare const written: Created[200]['content']['application/json'];
if (written.wrap_info === null && written.data !== null) written.data.version satisfies number;
declare const refused: Created[403]['content']['application/json'];
refused.errors satisfies string[];
declare const full: Created[507]['content']['application/json'];
full.errors satisfies string[];

type Backup = operations['read-sys-storage-raft-snapshot']['responses'];
declare const backup: Backup[200]['content']['application/gzip'];
backup satisfies string;
declare const under: Backup[409]['content']['application/json'];
under.errors satisfies string[];

// @ts-expect-error a delete has no body to be too large
type Never = paths['/kv-v2/data/{path}']['delete']['responses'][413]['content'];
`;

describe('the OpenAPI document of a server with everything mounted', () => {
  jest.setTimeout(120_000);
  let folder: string;
  let document: { paths: Record<string, Record<string, { operationId?: string }>> };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-openapi-'));
    const text = await servedDocument();
    document = JSON.parse(text) as typeof document;
    await writeFile(join(folder, 'openapi.json'), text);
  });
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  test('is valid, and a generator makes types of it that a client compiles with', async () => {
    // The generator validates what it reads.
    const made = spawnSync(process.execPath, [generator, 'openapi.json', '-o', 'api.ts'], { cwd: folder, encoding: 'utf8' });
    expect({ status: made.status, errors: made.stderr.match(/error.*/gi) ?? [] }).toEqual({ status: 0, errors: [] });
    await writeFile(join(folder, 'client.ts'), PROGRAM);
    const words = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--target', 'esnext', '--module', 'nodenext'];
    const compiled = spawnSync(process.execPath, [tsc, ...words, '--types', '', 'client.ts'], { cwd: folder, encoding: 'utf8' });
    expect(compiled.stdout).toBe('');
    expect(compiled.status).toBe(0);
  });

  test('names each operation once', () => {
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []));
    expect(ids.length).toBeGreaterThan(600);
    expect(ids.length).toBe(new Set(ids).size);
  });
});
