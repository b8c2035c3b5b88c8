import { BadRequest, f, Unavailable, type EngineHost, type Field } from '@strongroom/engine-sdk';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { guardedPlugin, type GuardedPlugin } from './guarded-plugin.ts';

/** The destinations that the server lists, by every variant of their type. */
export class DestinationTypes {
  readonly all: readonly GuardedPlugin[];
  readonly #byName = new Map<string, GuardedPlugin>();

  readonly #reasonAgainst: (type: string) => string | undefined;

  constructor(host: Pick<EngineHost, 'clock' | 'log' | 'plugins' | 'refusedPlugins'>) {
    const { clock, log } = host;
    this.#reasonAgainst = (type) => host.refusedPlugins('sync-destination').find(({ plugin }) => plugin.name === type)?.reason;
    this.all = host
      .plugins('sync-destination')
      .filter((plugin): plugin is SyncDestinationPlugin => plugin.kind === 'sync-destination')
      .map((plugin) => guardedPlugin(plugin, clock, (reason) => log.error(`the plugin of ${plugin.title} ${reason}`)));
    for (const plugin of this.all) for (const name of [plugin.name, ...(plugin.aliases ?? [])]) this.#byName.set(name, plugin);
  }

  /**
   * The canonical form of a type, which is its plugin's name; a type that is not installed has only the one. For the `folds` of captures: by it
   * every destination has one path.
   */
  readonly nameOf = (type: string): string => this.#byName.get(type)?.name ?? type;

  /** @throws BadRequest saying why it cannot be used, or naming those there are */
  of(type: string): GuardedPlugin {
    const plugin = this.#byName.get(type);
    if (plugin) return plugin;
    const reason = this.#reasonAgainst(type);
    if (reason !== undefined) throw new BadRequest(reason);
    const known = this.all.map(({ name }) => name).sort();
    throw new BadRequest(`unknown destination type ${JSON.stringify(type)}; there are: ${known.join(', ') || 'none'}`);
  }

  /** Of a stored destination. @throws Unavailable when its plugin is not listed any more */
  installed(type: string): GuardedPlugin {
    const plugin = this.#byName.get(type);
    if (!plugin) throw new Unavailable(this.#reasonAgainst(type) ?? `the plugin of destinations of type ${type} is not installed`);
    return plugin;
  }
}

/** The capture of a type in a path. */
export function typeField(types: DestinationTypes): Field<string> {
  return f.name('The type of the destination.', { folds: types.nameOf });
}
