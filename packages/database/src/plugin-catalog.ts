import { BadRequest, type Plugin, type RefusedPlugin } from '@strongroom/engine-sdk';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import type { TObject } from 'typebox';

export type AnyDatabasePlugin = DatabasePlugin<TObject>;

/** The database plugins that the server lists, by name and version. */
export class PluginCatalog {
  readonly #list: () => readonly Plugin[];
  readonly #refused: () => readonly RefusedPlugin[];

  constructor(list: () => readonly Plugin[], refused: () => readonly RefusedPlugin[] = () => []) {
    this.#list = list;
    this.#refused = refused;
  }

  /**
   * The plugin of that name; of several versions the one asked for (`1.2.0`, `v1.2.0`, or as the catalogue shows it), else the newest.
   * @throws BadRequest for one that is not there or cannot be used; nothing of it has run then.
   */
  find(name: string, version: string): AnyDatabasePlugin {
    const named = this.#list().filter((plugin) => plugin.name === name);
    const wanted = version.replace(/^v(?=\d)/, '').split('+')[0]!;
    const refused = this.#refused().find(({ plugin }) => plugin.name === name && (wanted === '' || plugin.version === wanted));
    if (named.length === 0) throw new BadRequest(refused?.reason ?? `plugin not found in the catalog: ${name}`);
    const fitting = wanted === '' ? named : named.filter((plugin) => plugin.version === wanted);
    const [newest] = [...fitting].sort((a, b) => compareVersions(b.version ?? '', a.version ?? ''));
    if (!newest) {
      if (refused) throw new BadRequest(refused.reason);
      const there = named.map((plugin) => plugin.version ?? 'none').join(', ');
      throw new BadRequest(`plugin version not found in the catalog: ${name} ${version} (installed: ${there})`);
    }
    return usable(newest);
  }
}

/** What every database plugin says of itself, and how it is known to be there. */
const DESCRIPTION: readonly [string, (plugin: Partial<AnyDatabasePlugin>) => boolean][] = [
  ['open', ({ open }) => typeof open === 'function'],
  ['connection (a TypeBox object)', ({ connection }) => typeof connection?.properties === 'object'],
  ['supports.credentials', ({ supports }) => Array.isArray(supports?.credentials)],
  ['usernameTemplate', ({ usernameTemplate }) => typeof usernameTemplate === 'string'],
];

function usable(plugin: Plugin): AnyDatabasePlugin {
  const candidate = plugin as Partial<AnyDatabasePlugin> & Plugin;
  const missing = DESCRIPTION.filter(([, isThere]) => !isThere(candidate)).map(([name]) => name);
  if (missing.length > 0) {
    throw new BadRequest(`plugin ${plugin.name} does not describe itself as a database plugin: it lacks ${missing.join(', ')}`);
  }
  return candidate as AnyDatabasePlugin;
}

/** By semantic versioning's order; a pre-release comes before its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < 3; i += 1) {
    const difference = (left.numbers[i] ?? 0) - (right.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.pre === right.pre) return 0;
  if (left.pre === '' || right.pre === '') return left.pre === '' ? 1 : -1;
  return left.pre.localeCompare(right.pre, 'en', { numeric: true });
}

function parts(version: string): { numbers: number[]; pre: string } {
  const [release = '', pre = ''] = version.split('+')[0]!.split(/-(.*)/s);
  return { numbers: release.split('.').map((part) => Number(part) || 0), pre };
}
