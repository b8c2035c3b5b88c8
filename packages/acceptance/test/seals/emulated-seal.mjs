// Leads the seal of one package to a server of the test: `node --import <this file>`, with EMULATED_SEAL = {"package", "factory", "options"} as JSON.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const emulated = JSON.parse(process.env.EMULATED_SEAL ?? '{}');

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (specifier !== emulated.package) return found;
  const source = `import { ${emulated.factory} } from ${JSON.stringify(found.url)};\nexport const seal = ${emulated.factory}(${JSON.stringify(emulated.options)});`;
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, format: 'module', shortCircuit: true };
}
