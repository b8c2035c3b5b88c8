import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A plugin that writes `LICENSES.txt`: every package of others that is in the bundle, with its licence. A package without one fails the build. */
export function licences() {
  return {
    name: 'strongroom-licences',
    generateBundle() {
      const folders = new Set([...this.getModuleIds()].flatMap((id) => packageFolder(id) ?? []));
      const texts = [...folders].sort().map(licenceOf);
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: `${texts.join(`\n${'-'.repeat(80)}\n\n`)}` });
    },
  };
}

/** The innermost package that a module lies in; undefined for modules of ours. */
function packageFolder(id) {
  const found = /^(?:\0)?(.*\/node_modules\/(?:@[^/]+\/)?[^/?]+)\//.exec(id);
  return found && existsSync(join(found[1], 'package.json')) ? found[1] : undefined;
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e(\.(md|txt))?$/i.test(one));
  if (typeof license !== 'string') throw new Error(`${name} does not say its licence`);
  const text = file === undefined ? 'The package contains no text of its licence.' : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}
