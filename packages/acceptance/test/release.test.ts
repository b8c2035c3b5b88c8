import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OFFERED } from '../../server/src/plugins/plugin-list.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

function manifestsIn(root: string): { folder: string; manifest: Manifest }[] {
  return ['packages', 'examples'].flatMap((parent) =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(root, parent, entry.name))
      // An example may be a program without a package.
      .filter((folder) => existsSync(join(folder, 'package.json')))
      .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest })),
  );
}

function rangesIn({ dependencies, devDependencies, peerDependencies }: Manifest): [string, string][] {
  return Object.entries({ ...dependencies, ...devDependencies, ...peerDependencies }).filter(([name]) => name.startsWith('@strongroom/'));
}

describe('`lerna version patch`', () => {
  const clone = mkdtempSync(join(tmpdir(), 'strongroom-release-'));
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...words], { cwd: clone, encoding: 'utf8' });
  let said = '';

  beforeAll(() => {
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
    for (const file of files.split('\0')) {
      // Without the lockfile: npm would go to the registry to write it again.
      if (!/^(?:packages|examples|docs)\/(?!.*\/test\/)|^(?:lerna|package)\.json$/.test(file)) continue;
      mkdirSync(join(clone, dirname(file)), { recursive: true });
      cpSync(join(ROOT, file), join(clone, file), { errorOnExist: false });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    writeFileSync(join(clone, '.gitignore'), 'node_modules\n.nx\n');
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message=before');
    const lerna = join(ROOT, 'node_modules', 'lerna', 'dist', 'cli.js');
    said = execFileSync(process.execPath, [lerna, 'version', '--no-git-tag-version', '--no-push', '--yes', 'patch'], {
      cwd: clone,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', NX_DAEMON: 'false', CI: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  });
  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  const patched = (version: string): string => version.replace(/\d+$/, (patch) => String(Number(patch) + 1));

  test('raises every package, examples included', () => {
    const before = manifestsIn(ROOT).map(({ manifest }) => [manifest.name, patched(manifest.version)]);
    expect(manifestsIn(clone).map(({ manifest }) => [manifest.name, manifest.version])).toEqual(before);
    expect(before.length).toBeGreaterThan(30);
    expect(said).not.toContain('ECYCLE');
  });

  test('raises the ranges inside the repository', () => {
    const all = manifestsIn(clone).map(({ manifest }) => manifest);
    const versions = new Map(all.map(({ name, version }) => [name, version]));
    for (const manifest of all)
      for (const [name, range] of rangesIn(manifest)) expect([name, range]).toEqual([name, `^${versions.get(name)}`]);
  });

  test('closes every changelog', () => {
    for (const { folder, manifest } of manifestsIn(clone)) {
      if (manifest.private) continue;
      const text = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
      expect(text).toMatch(new RegExp(`^# Changelog\n\n## ${manifest.version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)\n\n\\S`));
      expect(text).not.toContain('Unreleased');
    }
  });

  test('raises the versions that sources and documents repeat', () => {
    const next = (JSON.parse(readFileSync(join(clone, 'packages/core/package.json'), 'utf8')) as Manifest).version;
    expect(readFileSync(join(clone, 'packages/core/src/kernel/version.ts'), 'utf8')).toContain(`PRODUCT_VERSION = '${next}'`);
    expect(readFileSync(join(clone, 'packages/kv/src/kv-engine.ts'), 'utf8')).toContain(`version: '${next}'`);
    const example = readFileSync(join(clone, 'examples/third-party-database-plugin/package.json'), 'utf8');
    expect(readFileSync(join(clone, 'docs/writing-a-database-plugin.md'), 'utf8')).toContain(example);
  });
});

describe('versions', () => {
  const all = manifestsIn(ROOT).map(({ manifest }) => manifest);
  const versions = new Map(all.map(({ name, version }) => [name, version]));

  test.each(all)('of packages that $name uses are ranges that a patch does not break', (manifest) => {
    for (const [name, range] of rangesIn(manifest)) expect([name, range]).toEqual([name, `^${versions.get(name)}`]);
  });

  test.each(OFFERED)('of plugins are those of their packages: $package', async ({ package: name, load }) => {
    for (const plugin of await load()) expect([plugin.name, plugin.version]).toEqual([plugin.name, versions.get(name)]);
  });
});
