import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../server-process.ts';
import { run } from './npm.ts';
import { startProgram } from './program.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** The runner of the repository runs their tests, and the lab, which is not published, is what the pages call a database of yours. */
const NOT_INSTALLED = ['@jest/globals', '@strongroom/lab'];
const TYPES = ['@types/express@5', '@types/pg@8'];

/** Where the files of each page come to lie in the author's folder. */
const PAGES: readonly { page: string; folder: string; from: string }[] = [
  { page: 'writing-an-engine', folder: 'engine', from: 'examples/embed-in-express/' },
  { page: 'writing-a-database-plugin', folder: 'database-plugin', from: 'examples/third-party-database-plugin/' },
  { page: 'writing-a-sync-destination', folder: 'sync-destination', from: 'packages/sync-testkit/test/shelf/' },
  { page: 'embedding', folder: 'embedding', from: '' },
];

/** The files of a page: every block of code that follows a mark naming its file. */
export function filesOf(page: string, from: string): Map<string, string> {
  const blocks = page.matchAll(/<!-- (?:file|code of|program): (\S+) -->\n\n```\w+\n([^]*?)```/g);
  return new Map([...blocks].filter(([, file]) => file!.startsWith(from)).map(([, file, code]) => [file!.slice(from.length), code!]));
}

export interface Tutorials {
  /** How many files each page gave. */
  readonly counts: ReadonlyMap<string, number>;
  /** The arguments of `npm install` for them: every package that the code imports, and the types of those that have none. */
  readonly packages: readonly string[];
}

/** Writes the code of all pages into the folder. */
export async function writeTutorials(folder: string): Promise<Tutorials> {
  const counts = new Map<string, number>();
  const imports = new Set<string>();
  for (const { page, folder: part, from } of PAGES) {
    const files = filesOf(await readFile(join(ROOT, 'docs', `${page}.md`), 'utf8'), from);
    for (const [file, code] of files) {
      await mkdir(dirname(join(folder, part, file)), { recursive: true });
      await writeFile(join(folder, part, file), code);
      for (const [, name] of code.matchAll(/(?:\bfrom |\bimport\()'((?:@[^/']+\/)?[^./'][^/']*)[^']*'/g)) imports.add(name!);
    }
    counts.set(page, files.size);
  }
  for (const known of NOT_INSTALLED) imports.delete(known);
  const packages = [...imports].filter((name) => !name.startsWith('node:'));
  return { counts, packages: [...packages.map(versioned), ...TYPES] };
}

/** The version that the repository is tested with, where it has the package itself. */
function versioned(name: string): string {
  if (name.startsWith('@strongroom/')) return name;
  try {
    const { version } = createRequire(import.meta.url)(`${name}/package.json`) as { version: string };
    return `${name}@${version}`;
  } catch {
    return name;
  }
}

/** Compiles the code of the pages against the packages as they were published, declarations included. */
export async function compileTutorials(folder: string): Promise<void> {
  await symlink(join(ROOT, 'packages', 'lab'), join(folder, 'node_modules', '@strongroom', 'lab'));
  const compilerOptions = {
    ...{ target: 'es2023', lib: ['es2023'], module: 'nodenext', strict: true, exactOptionalPropertyTypes: true },
    ...{ noImplicitAny: false, useUnknownInCatchVariables: false, allowJs: true, checkJs: true, types: ['node'] },
    ...{ rewriteRelativeImportExtensions: true, rootDir: '.', outDir: 'out', skipLibCheck: false },
    paths: { '@jest/globals': [join(ROOT, 'node_modules', '@jest', 'globals', 'build', 'index.d.ts')] },
  };
  const include = PAGES.map(({ folder: part }) => part);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
  await run(process.execPath, [join(ROOT, 'node_modules', 'ts7', 'bin', 'tsc'), '-p', folder], { cwd: folder });
}

/** Runs the tests of the pages. @returns how many passed */
export async function testTutorials(folder: string): Promise<number> {
  const config = { rootDir: join(folder, 'out'), testEnvironment: 'node', transform: {}, testTimeout: 60_000 };
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const report = join(folder, 'jest.json');
  const words = [jest, '--config', JSON.stringify(config), '--json', `--outputFile=${report}`, '--maxWorkers=2'];
  await run(process.execPath, words, { cwd: folder, env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules --no-warnings' } });
  return (JSON.parse(await readFile(report, 'utf8')) as { numPassedTests: number }).numPassedTests;
}

/** Starts a program of the page on embedding, and uses its app and its API. */
export async function tryEmbedding(folder: string, name: string, prefix: string): Promise<void> {
  const port = await freePort();
  const program = await startProgram(join(folder, 'out', 'embedding', `${name}.js`), port);
  try {
    const call = async (path: string, data?: object): Promise<{ status: number; text: string }> => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { 'X-Vault-Token': 'root' },
        ...(data ? { method: 'POST', body: JSON.stringify(data) } : {}),
      });
      return { status: response.status, text: await response.text() };
    };
    const expected: [string, object | undefined, number, string][] = [
      ['/', undefined, 200, 'the app as it was'],
      [`${prefix}sys/mounts/secret`, { type: 'kv' }, 204, ''],
      [`${prefix}secret/door`, { code: '1234' }, 204, ''],
      [`${prefix}secret/door`, undefined, 200, '"code":"1234"'],
      [`${prefix}secret/?list=true`, undefined, 200, '"keys":["door"]'],
    ];
    for (const [path, data, status, text] of expected) {
      const answer = await call(path, data);
      if (answer.status !== status || !answer.text.includes(text)) {
        throw new Error(`${name}: ${path} answered ${answer.status} ${answer.text}, and not ${status} ${text}\n${program.log()}`);
      }
    }
  } finally {
    await program.stop();
  }
}
