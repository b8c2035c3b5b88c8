import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readConfiguration } from '@strongroom/server';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const FOLDER = join(ROOT, 'deploy', 'container');

interface Instruction {
  readonly name: string;
  readonly words: string;
}

/** The instructions of a Containerfile, with continued lines joined and comments left out. */
function instructionsOf(text: string): Instruction[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(' ')[0]!, words: line.slice(line.indexOf(' ') + 1).trim() }));
}

describe('the Containerfile', () => {
  const instructions = instructionsOf(readFileSync(join(FOLDER, 'Containerfile'), 'utf8'));
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const wordsOf = (name: string): string[] => last.filter((one) => one.name === name).map(({ words }) => words);

  test('runs as a user that is no root, by number, and writes to its volume alone', () => {
    expect(wordsOf('USER')).toEqual(['1000:1000']);
    expect(wordsOf('VOLUME')).toEqual(['["/var/lib/strongroom"]']);
    const afterUser = last.slice(last.findIndex(({ name }) => name === 'USER') + 1).map(({ name }) => name);
    expect(afterUser).not.toContain('RUN');
    expect(afterUser).not.toContain('COPY');
  });

  test('names its base with a version, and takes nothing from an address', () => {
    const base = instructions.find(({ name, words }) => name === 'ARG' && words.startsWith('NODE_IMAGE='))!.words;
    expect(base).toMatch(/:\d+-\w+-slim$/);
    for (const { words } of instructions.filter(({ name }) => name === 'FROM')) expect(words).toMatch(/^\$\{NODE_IMAGE\}( AS build)?$/);
    expect(instructions.some(({ name }) => name === 'ADD')).toBe(false);
    expect(instructions.some(({ words }) => /curl|wget|apt-get|https?:\/\/(?!127)/.test(words))).toBe(false);
  });

  test('installs what the lockfile says, and runs no install scripts', () => {
    const run = instructions.filter(({ name, words }) => name === 'RUN' && words.includes('npm')).map(({ words }) => words);
    const installs = run.join(' ').match(/npm (?:ci|install)[^&]*/g) ?? [];
    expect(installs).toHaveLength(2);
    for (const install of installs) expect(install).toMatch(/^npm ci .*--ignore-scripts/);
    expect(installs[1]).toContain('--omit=dev');
  });

  test('starts the server in such a way that signals reach it, and checks its health', () => {
    expect(wordsOf('ENTRYPOINT')).toEqual(['["strongroom"]']);
    expect(wordsOf('CMD')).toEqual(['["server", "-config=/etc/strongroom"]']);
    expect(wordsOf('HEALTHCHECK')[0]).toContain('strongroom status');
  });

  test('holds no secret', () => {
    for (const { name, words } of instructions) {
      if (name === 'ENV' || name === 'ARG') expect(words).not.toMatch(/token|password|secret|key/i);
    }
  });

  test('has a configuration that the server accepts', async () => {
    expect((await readConfiguration([join(FOLDER, 'strongroom.hcl')], { env: {} })).notices).toEqual([]);
  });
});

describe('what the image holds', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'strongroom-stage-'));
    execFileSync(process.execPath, [join(FOLDER, 'stage.mjs'), folder]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const read = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest;

  test('is the command line and every package that the server loads when it is installed', () => {
    const shipped = readdirSync(join(folder, 'packages')).map((name) => `@strongroom/${name}`);
    const { dependencies, peerDependencies } = read(join(ROOT, 'packages', 'server', 'package.json'));
    const own = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => name.startsWith('@strongroom/'));
    expect(shipped).toEqual(expect.arrayContaining(['@strongroom/cli', '@strongroom/server', '@strongroom/console', ...own]));
    for (const left of ['acceptance', 'lab', 'engine-testkit', 'database-testkit', 'sync-testkit'])
      expect(shipped).not.toContain(`@strongroom/${left}`);
  });

  test('has a lockfile that is in step with its manifests, at the versions of the repository', () => {
    const [staged, whole] = [folder, ROOT].map((place) => read(join(place, 'package-lock.json')).packages!);
    for (const [path, entry] of Object.entries(staged!)) {
      if (path === '') continue;
      expect([path, entry.version]).toEqual([path, whole![path]?.version]);
      expect(entry.devDependencies).toBeUndefined();
      if (/^packages\/[^/]+$/.test(path))
        expect(entry.dependencies ?? {}).toEqual(read(join(folder, path, 'package.json')).dependencies ?? {});
    }
  });
});

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly version?: string;
  readonly packages?: Record<string, Manifest>;
}
