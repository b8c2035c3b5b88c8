// Lets a child process import the packages' TypeScript: `node --import <this file> child.ts`.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { sources } from './sources.mjs';

if (isMainThread) register(import.meta.url);

const ours = isMainThread ? new Map() : sources();

export async function resolve(specifier, context, next) {
  const source = ours.get(specifier);
  return source === undefined ? next(specifier, context) : { url: pathToFileURL(source).href, format: 'module', shortCircuit: true };
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { transform } = await import('@swc/core');
  const source = await readFile(fileURLToPath(url), 'utf8');
  const { code } = await transform(source, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } });
  return { format: 'module', shortCircuit: true, source: code };
}
