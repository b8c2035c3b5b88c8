// Leads the seal of one package to a server of the test: `node --import <this file>`, with PLAYED_SEAL = {"package", "factory", "options"} as JSON.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const played = JSON.parse(process.env.PLAYED_SEAL ?? '{}');

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (specifier !== played.package) return found;
  const source = `import { ${played.factory} } from ${JSON.stringify(found.url)};\nexport const seal = ${played.factory}(${JSON.stringify(played.options)});`;
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, format: 'module', shortCircuit: true };
}
