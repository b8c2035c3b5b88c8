import { BadRequest, Unavailable } from '@strongroom/engine-sdk';
import type { Plugin } from '@strongroom/engine-sdk';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';

/** The destinations that the server lists, by every spelling of their type. */
export class DestinationTypes {
  readonly all: readonly SyncDestinationPlugin[];
  readonly #byName = new Map<string, SyncDestinationPlugin>();

  constructor(plugins: readonly Plugin[]) {
    this.all = plugins.filter((plugin): plugin is SyncDestinationPlugin => plugin.kind === 'sync-destination');
    for (const plugin of this.all) for (const name of [plugin.name, ...(plugin.aliases ?? [])]) this.#byName.set(name, plugin);
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
