import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

// Processes start slowly on busy machines.
jest.setTimeout(60_000);

const run = promisify(execFile);
const script = new URL('../scripts/cache.mjs', import.meta.url).href;

describe('cached', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-cache-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const inProcess = (make: string) => {
    const program = `
      import { appendFileSync, writeFileSync } from 'node:fs';
      import { cached } from ${JSON.stringify(script)};
      console.log(await cached('server-1.0', (made) => { ${make} }));`;
    return run(process.execPath, ['--input-type=module', '-e', program], { env: { ...process.env, STRONGROOM_LAB_CACHE: folder } });
  };
  const make = () => `appendFileSync(${JSON.stringify(join(folder, 'made'))}, 'x'); writeFileSync(made + '/program', 'content');`;

  test('processes that ask at the same time get the same, made once', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => inProcess(make())));
    expect(answers.map(({ stdout }) => stdout.trim())).toEqual(Array(3).fill(join(folder, 'server-1.0')));
    expect(await readFile(join(folder, 'made'), 'utf8')).toBe('x');
    expect(await readFile(join(folder, 'server-1.0', 'program'), 'utf8')).toBe('content');
    expect((await readdir(folder)).sort()).toEqual(['made', 'server-1.0']);
  });

  test('what could not be made leaves nothing, and is tried again', async () => {
    await expect(inProcess(`writeFileSync(made + '/half', ''); throw new Error('no network');`)).rejects.toThrow('no network');
    expect(await readdir(folder)).toEqual([]);
    await inProcess(make());
    expect(await readdir(join(folder, 'server-1.0'))).toEqual(['program']);
  });

  test('a lock whose process is gone does not hold anybody up', async () => {
    const { stdout } = await run(process.execPath, ['-p', 'process.pid']);
    await writeFile(join(folder, 'server-1.0.lock'), stdout.trim());
    await inProcess(make());
    expect(await readdir(join(folder, 'server-1.0'))).toEqual(['program']);
  });
});
