import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import type { Manifest, Release } from './registry.ts';

const LICENSE = fileURLToPath(new URL('../../../../LICENSE', import.meta.url));
/** Names of Node's own that declarations use: then the package must bring their types. */
const NODE_TYPES = /\bfrom 'node:|import\('node:|\bBuffer\b|\bNodeJS\.|\bAbortSignal\b/;

/** What is wrong with a package as it was published; empty when nothing is. */
export async function faultsOf({ manifest, tarball }: Release): Promise<string[]> {
  const found = createPackageFromTarballData(tarball);
  const root = `/node_modules/${manifest.name}/`;
  const files = found.listFiles().map((file) => file.slice(root.length));
  const text = (file: string): string => found.readFile(root + file);
  const license = await readFile(LICENSE, 'utf8');
  return [
    ...(files.includes('LICENSE') && text('LICENSE') === license ? [] : ['LICENSE is not that of the repository']),
    ...['CHANGELOG.md', 'README.md'].filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
    ...files.filter((file) => file.endsWith('.map') || /^(?:src|test)\//.test(file)).map((file) => `${file} is of no use to anybody`),
    ...files.filter((file) => file.endsWith('.js') && text(file).includes('//# sourceMappingURL=')).map((file) => `${file} names a map`),
    ...undeclaredTypes(manifest, files.filter((file) => file.endsWith('.d.ts')).map(text)),
    ...(await publintFaults(tarball)),
    ...(await typeFaults(found)),
  ];
}

/** Packages whose types the declarations use, and that are not installed with the package. */
function undeclaredTypes({ name, dependencies = {}, peerDependencies = {} }: Manifest, declarations: readonly string[]): string[] {
  const declared = new Set([name, ...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
  const used = declarations.flatMap((text) =>
    [...text.matchAll(/(?:\bfrom |\bimport\()'((?:@[^/']+\/)?[^./'][^/']*)[^']*'/g)].map(([, imported]) => imported!),
  );
  const packages = [...new Set(used)].filter((imported) => !imported.startsWith('node:'));
  const types = packages.filter((imported) => !imported.startsWith('@') && hasTypesApart(imported)).map((imported) => `@types/${imported}`);
  const node = declarations.some((text) => NODE_TYPES.test(text)) ? ['@types/node'] : [];
  return [...packages, ...types, ...node].filter((needed) => !declared.has(needed)).map((needed) => `its types need ${needed}`);
}

/** Whether the types of a package are another package, `@types/…`. */
function hasTypesApart(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(`@types/${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

async function publintFaults(tarball: Buffer): Promise<string[]> {
  const data = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength) as ArrayBuffer;
  const { messages, pkg } = await publint({ pack: { tarball: data } });
  return messages.filter(({ type }) => type !== 'suggestion').map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`);
}

/** Packages are ES modules alone: Node 20.19 and newer can require them too, so resolution by older rules is no fault. */
async function typeFaults(found: ReturnType<typeof createPackageFromTarballData>): Promise<string[]> {
  const result = await checkPackage(found);
  if (!result.types) return ['attw: it has no types'];
  return result.problems
    .filter((problem) => problem.kind !== 'CJSResolvesToESM' && !('resolutionKind' in problem && problem.resolutionKind === 'node10'))
    .map((problem) => `attw: ${JSON.stringify(problem)}`);
}
