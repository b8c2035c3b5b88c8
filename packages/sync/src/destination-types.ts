import { BadRequest, Unavailable } from '@strongroom/engine-sdk';
import type { Plugin } from '@strongroom/engine-sdk';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { guardedPlugin } from './guarded-plugin.ts';

/** The destinations that the server lists, by every spelling of their type. */
export class DestinationTypes {
  readonly all: readonly SyncDestinationPlugin[];
  readonly #byName = new Map<string, SyncDestinationPlugin>();

  constructor(plugins: readonly Plugin[]) {
    this.all = plugins.filter((plugin): plugin is SyncDestinationPlugin => plugin.kind === 'sync-destination').map(guardedPlugin);
    for (const plugin of this.all) for (const name of [plugin.name, ...(plugin.aliases ?? [])]) this.#byName.set(name, plugin);
  }

  /** Of a path `destinations/<type>…`: the same with the type's other names. */
  readonly otherSpellings = (path: string): string[] => {
    const [first = '', type = '', ...rest] = path.split('/');
    const plugin = this.#byName.get(type);
    if (!plugin) return [];
    const others = [plugin.name, ...(plugin.aliases ?? [])].filter((name) => name !== type);
    return others.map((name) => [first, name, ...rest].join('/'));
  };

  /** How the type is stored; a type that is not installed is stored as it is called. */
  nameOf(type: string): string {
    return this.#byName.get(type)?.name ?? type;
  }

  /** @throws BadRequest naming those there are */
  of(type: string): SyncDestinationPlugin {
    const plugin = this.#byName.get(type);
    if (plugin) return plugin;
    const known = this.all.map(({ name }) => name).sort();
    throw new BadRequest(`unknown destination type ${JSON.stringify(type)}; there are: ${known.join(', ') || 'none'}`);
  }

  /** Of a stored destination. @throws Unavailable when its plugin is not listed any more */
  installed(type: string): SyncDestinationPlugin {
    const plugin = this.#byName.get(type);
    if (!plugin) throw new Unavailable(`the plugin of destinations of type ${type} is not installed`);
    return plugin;
  }
}
