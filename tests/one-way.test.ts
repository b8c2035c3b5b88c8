import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Linter } from 'eslint';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parser } from 'typescript-eslint';
import { floors } from '../lint/floors.js';
import { oneWay } from '../lint/one-way.js';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'one-way-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes the files of a package and lints them all. Answers the complaints, each with its file. */
function complaints(files: Readonly<Record<string, string>>, ofPackage: Readonly<Record<string, readonly string[][]>> = {}): string[] {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, 'src', name)), { recursive: true });
    writeFileSync(join(root, 'src', name), text);
  }
  const linter = new Linter({ cwd: root });
  const config = [
    {
      files: ['**/*.ts'],
      languageOptions: { parser: parser as Linter.Parser },
      plugins: { strongroom: { rules: { 'one-way': oneWay } } },
      rules: { 'strongroom/one-way': ['error', { floors: ofPackage }] },
    },
  ] as unknown as Linter.Config[];
  return Object.entries(files).flatMap(([name, text]) =>
    linter.verify(text, config, { filename: join(root, 'src', name) }).map(({ message }) => `${name}: ${message}`),
  );
}

const house = { '': [['kernel'], ['services'], ['request', 'api'], ['core.ts']], services: [['tokens'], ['leases', 'audit']] };

test('imports that go down pass', () => {
  const files = {
    'kernel/store.ts': 'export const store = 1;',
    'services/tokens/tokens.ts': "export { store } from '../../kernel/store.ts';",
    'services/leases/leases.ts': "import { store } from '../tokens/tokens.ts';\nexport const leases = store;",
    'core.ts': "import './services/leases/leases.ts';\nimport './kernel/store.ts';",
  };
  expect(complaints(files, house)).toEqual([]);
});

test('an import of a higher floor is refused, also of a type, within an expression, and by an export', () => {
  const files = {
    'services/tokens/tokens.ts': 'export type Token = string;\nexport const token = 1;',
    'kernel/store.ts': "import type { Token } from '../services/tokens/tokens.ts';\nexport type Stored = Token;",
    'kernel/late.ts': "export const late = () => import('../services/tokens/tokens.ts');",
    'kernel/door.ts': "export { token } from '../services/tokens/tokens.ts';",
    'kernel/inline.ts': "export type Inline = import('../services/tokens/tokens.ts').Token;",
  };
  const refused = 'kernel may not import services: in src, services is on a higher floor (lint/floors.js)';
  expect(complaints(files, house)).toEqual(['store.ts', 'late.ts', 'door.ts', 'inline.ts'].map((name) => `kernel/${name}: ${refused}`));
});

test('rooms of one floor do not import each other, and the order of the services holds', () => {
  const files = {
    'services/leases/leases.ts': "import '../audit/audit.ts';",
    'services/audit/audit.ts': 'export {};',
    'services/tokens/tokens.ts': "import '../audit/audit.ts';",
    'api/paths.ts': "import '../request/pipeline.ts';",
    'request/pipeline.ts': 'export {};',
  };
  expect(complaints(files, house)).toEqual([
    expect.stringMatching(/^services\/leases.*leases may not import audit: in services, both are on one floor/),
    expect.stringMatching(/^services\/tokens.*tokens may not import audit: in services, audit is on a higher floor/),
    expect.stringMatching(/^api.*api may not import request: in src, both are on one floor/),
  ]);
});

test('a folder that has no floor is refused', () => {
  const files = { 'attic/box.ts': "import '../kernel/store.ts';", 'kernel/store.ts': 'export {};' };
  expect(complaints(files, house)).toEqual([expect.stringMatching(/attic is on no floor of src/)]);
});

test('a circle of two files is refused at both arrows, also where one imports only a type', () => {
  const files = {
    'a.ts': "import { b } from './b.ts';\nexport const a = b;",
    'b.ts': "import type { a } from './a.ts';\nexport const b = 1 as unknown as typeof a;",
    'c.ts': "import './a.ts';",
  };
  expect(complaints(files)).toEqual([
    'a.ts: This import closes a circle in src: a.ts, b.ts',
    'b.ts: This import closes a circle in src: a.ts, b.ts',
  ]);
});

test('a circle of folders is refused though no two files are in a circle', () => {
  const files = {
    'cats/tail.ts': "import '../dogs/ear.ts';",
    'dogs/ear.ts': 'export {};',
    'dogs/paw.ts': "import '../birds/wing.ts';",
    'birds/wing.ts': "import '../cats/whisker.ts';",
    'cats/whisker.ts': 'export {};',
  };
  expect(complaints(files)).toHaveLength(3);
  expect(complaints(files)[0]).toMatch(/^cats\/tail.ts: This import closes a circle in src: /);
});

test('a folder that goes through a file beside it and back is a circle', () => {
  const files = {
    'format.ts': "import './v1/paths.ts';",
    'v1/paths.ts': "import type {} from '../format.ts';",
  };
  expect(complaints(files)).toHaveLength(2);
});

test('the core has floors for its kernel, its services, its request and its api', () => {
  expect(Object.keys(floors.core)).toEqual(['', 'kernel', 'services', 'api']);
});
