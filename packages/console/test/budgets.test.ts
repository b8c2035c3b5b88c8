import { beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { BuiltConsole, notBuilt } from './built-console.ts';

const KB = 1_000;

describeWhere(notBuilt, 'the built console', () => {
  let built: BuiltConsole;
  beforeAll(() => {
    built = new BuiltConsole();
  });
  const chunks = (pattern: RegExp): string[] => built.paths().filter((path) => pattern.test(path));

  test('sends at most 220 kB for the first page, compressed with brotli', () => {
    const files = new Set(['index.html', ...built.shell(), ...built.lazy('login-page')]);
    expect(built.brotli(files) / KB).toBeLessThanOrEqual(220);
  });

  test('has at most 210 kB of scripts and sheets in its frame, compressed with gzip', () => {
    expect(built.gzip([...built.shell()].filter((path) => /\.(js|css)$/.test(path))) / KB).toBeLessThanOrEqual(210);
  });

  test('has at most 25 kB in the chunk of each page', () => {
    const large = chunks(/-page-.*\.js$/).filter((path) => built.gzip([path]) > 25 * KB);
    expect(large).toEqual([]);
  });

  test('loads the editor and the plots, at most 120 and 25 kB, when they are needed', () => {
    const shell = built.shell();
    for (const [pattern, limit] of [
      // With completion and complaints by line.
      [/code-editor-view-.*\.js$/, 120],
      [/(uplot|plot)[^/]*\.js$/i, 25],
    ] as const) {
      const files = chunks(pattern);
      expect(files.filter((path) => shell.has(path))).toEqual([]);
      for (const path of files) expect([path, built.gzip([path]) / KB <= limit]).toEqual([path, true]);
    }
  });

  test('has at most 700 kB in all, compressed with gzip', () => {
    expect(built.gzip(built.paths().filter((path) => path !== 'LICENSES.txt')) / KB).toBeLessThanOrEqual(700);
  });

  describe('its files', () => {
    test('name no other place that a browser would fetch', () => {
      const html = built.text('index.html');
      expect(html).not.toMatch(/(?:src|href)="(?!\/ui\/)/);
      expect(html).not.toMatch(/<style|\son\w+=|<script(?![^>]*\bsrc=)/);
      const sheets = chunks(/\.css$/).map((path) => built.text(path));
      for (const sheet of sheets) expect(sheet).not.toMatch(/url\((?!["']?(?:data:|#|\/ui\/))|@import/);
    });

    test('compile no text into code', () => {
      for (const path of chunks(/\.js$/)) expect([path, /\bnew Function\(|\beval\(/.test(built.text(path))]).toEqual([path, false]);
    });

    test('come with no map of their sources', () => {
      expect(chunks(/\.map$/)).toEqual([]);
      for (const path of chunks(/\.js$/)) expect(built.text(path)).not.toContain('sourceMappingURL');
    });

    test('come with the licences of all packages in them', () => {
      const licences = built.text('LICENSES.txt');
      for (const name of [
        'react',
        'react-dom',
        '@mantine/core',
        '@tanstack/react-query',
        '@tanstack/react-router',
        '@codemirror/view',
        '@tabler/icons-react',
      ])
        expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
      const kinds = [...licences.matchAll(/^\S+ \d+\.\d\S* \(([^)]+)\)$/gm)].map((match) => match[1]!);
      const free = new Set(['MIT', 'ISC', '0BSD', 'BSD-3-Clause', 'Apache-2.0']);
      expect(kinds.filter((kind) => !free.has(kind))).toEqual([]);
    });
  });
});
