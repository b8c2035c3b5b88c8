import { BadRequest, f, Unavailable, type Field, type Plugin } from '@strongroom/engine-sdk';
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

  /**
   * The canonical spelling of a type, which is its plugin's name; a type that is not installed has only the one. For the `folds` of captures: by it
   * every destination has one path.
   */
  readonly nameOf = (type: string): string => this.#byName.get(type)?.name ?? type;

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

/** The capture of a type in a path. */
export function typeField(types: DestinationTypes): Field<string> {
  return f.name('The type of the destination.', { folds: types.nameOf });
}
