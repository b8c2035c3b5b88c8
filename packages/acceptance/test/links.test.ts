import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Folders that a build, a test run or an installation makes: a link into one of them leads nowhere for readers. */
const MADE = new Set(['.git', '.nx', '.strongroom', 'cache', 'coverage', 'dist', 'node_modules', 'ui']);
const FILES = [...filesIn('.')];
const PLACES = new Set(FILES.flatMap((file) => [file, ...foldersOf(file)]));
const DOCUMENTS = FILES.filter((file) => file.endsWith('.md'));

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory() && !MADE.has(entry.name)) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

function foldersOf(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? ['.'] : [folder, ...foldersOf(folder)];
}

/** The text without code: what looks like a link or a heading there is none. */
function prose(document: string): string {
  return readFileSync(join(ROOT, document), 'utf8')
    .replaceAll(/^ *(```+)[^\n]*\n[\s\S]*?^ *\1$/gm, '')
    .replaceAll(/`[^`\n]+`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));
}

/** Targets of links and images within the repository, as they are written. */
function linksOf(document: string): string[] {
  return [...prose(document).matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** The anchors that a page has, by GitHub's rule: small letters, no punctuation, a hyphen for each space, a number when repeated. */
function anchorsOf(document: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading] of readFileSync(join(ROOT, document), 'utf8')
    .replaceAll(/^ *(```+)[^\n]*\n[\s\S]*?^ *\1$/gm, '')
    .matchAll(/^#{1,6} +(.+)$/gm)) {
    const words = heading!
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .trim();
    const slug = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** Why a link leads nowhere; undefined when it leads somewhere. */
function fault(document: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : posix.normalize(posix.join(posix.dirname(document), decodeURI(path))).replace(/\/$/, '');
  if (!PLACES.has(target)) return `${document}: ${link} leads to ${target}, which is not in the repository`;
  if (anchor === undefined) return undefined;
  if (!target.endsWith('.md')) return `${document}: ${link} has an anchor, and ${target} is no document`;
  return anchorsOf(target).has(anchor) ? undefined : `${document}: ${link}: ${target} has no heading for #${anchor}`;
}

describe('links between documents', () => {
  test('lead somewhere', () => {
    const links = DOCUMENTS.flatMap((document) => linksOf(document).map((link) => [document, link] as const));
    expect(links.length).toBeGreaterThan(100);
    expect(links.flatMap(([document, link]) => fault(document, link) ?? [])).toEqual([]);
  });

  test('that lead nowhere are found: a file, an anchor, a folder that only a build makes', () => {
    expect(fault('docs/README.md', 'no-such-page.md')).toContain('docs/no-such-page.md');
    expect(fault('docs/README.md', 'concepts.md#no-such-heading')).toContain('#no-such-heading');
    expect(fault('docs/README.md', '../node_modules')).toContain('node_modules');
    expect(fault('docs/README.md', '../packages/core')).toBeUndefined();
    expect(fault('docs/README.md', 'concepts.md#the-schedule')).toBeUndefined();
  });
});

describe('documents', () => {
  const packages = [...PLACES].filter((place) => /^packages\/[^/]+$/.test(place));
  const isPrivate = (folder: string): boolean =>
    (JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as { private?: boolean }).private === true;

  test('every package has a README, and every one that is published a CHANGELOG', () => {
    expect(packages.length).toBeGreaterThan(20);
    const wanted = packages.flatMap((folder) => [`${folder}/README.md`, ...(isPrivate(folder) ? [] : [`${folder}/CHANGELOG.md`])]);
    expect(wanted.filter((file) => !PLACES.has(file))).toEqual([]);
  });

  test('the README of the repository links every package', () => {
    const linked = new Set(linksOf('README.md').map((link) => link.replace(/\/$/, '')));
    expect(packages.filter((folder) => !linked.has(folder))).toEqual([]);
  });

  test('every page of docs is reached by links from the README', () => {
    const reached = new Set(['README.md']);
    for (const document of reached) {
      for (const link of linksOf(document)) {
        const target = posix.normalize(posix.join(posix.dirname(document), link.split('#')[0]!));
        if (target.endsWith('.md') && PLACES.has(target)) reached.add(target);
        if (target === 'docs/decisions') for (const file of DOCUMENTS) if (file.startsWith('docs/decisions/')) reached.add(file);
      }
    }
    expect(DOCUMENTS.filter((file) => file.startsWith('docs/') && !file.includes('[') && !reached.has(file))).toEqual([]);
  });
});
