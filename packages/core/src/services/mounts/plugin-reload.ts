import { InvalidRequest } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { SingleRecord } from '../../kernel/storage/records.ts';
import type { Store } from '../../kernel/storage/store.ts';
import type { UsablePlugins } from '../plugins/usable-plugins.ts';
import type { MountTable } from './mount-table.ts';

const Order = Type.Object({ id: Type.String(), plugin: Type.Optional(Type.String()), mounts: Type.Optional(Type.Array(Type.String())) });
/** The latest reload that was meant for every server of the store: the others carry it out when they hear of the change. */
export const RELOAD_ORDER = new SingleRecord('core/plugin-reload', Order);

/** What is to be reloaded: the mounts of a plugin, or these mounts. */
export type ReloadTarget = { readonly plugin?: string; readonly mounts?: readonly string[] };

interface Parts {
  readonly mounts: MountTable;
  readonly plugins: UsablePlugins;
}

/** Restarts engines: those at these mounts, those of this plugin, or those that may use it. @throws InvalidRequest for a path without a mount */
export async function reloadPlugins({ mounts, plugins }: Parts, { plugin, mounts: paths = [] }: ReloadTarget): Promise<void> {
  const named = paths.map((path) => {
    const mount = mounts.at(path.endsWith('/') ? path : `${path}/`);
    if (!mount) throw new InvalidRequest(`cannot fetch mount entry on ${JSON.stringify(path)}`);
    return mount;
  });
  const external = mounts.all().filter((mount) => mount.package && plugins.usable.includes(mount.package));
  const own = external.filter((mount) => mount.package!.name === plugin);
  const isEngine = plugins.usable.some(({ name, kind }) => name === plugin && (kind === 'auth' || kind === 'secret'));
  for (const mount of paths.length > 0 ? named : isEngine ? own : external) await mounts.restart(mount);
}

/** Has the other servers of the store reload the same. */
export async function orderReload(store: Store, id: string, { plugin, mounts }: ReloadTarget): Promise<void> {
  const order: Static<typeof Order> = { id, ...(plugin === undefined ? {} : { plugin }), ...(mounts ? { mounts: [...mounts] } : {}) };
  await store.transaction(async (tx) => {
    RELOAD_ORDER.put(tx, order);
    tx.notify(RELOAD_ORDER.key);
  });
}

/** Another server ordered a reload. What is not mounted here any more is left out. */
export async function followReloadOrder(store: Store, parts: Parts): Promise<void> {
  const order = await RELOAD_ORDER.get(store);
  if (!order) return;
  const { plugin, mounts: paths } = order;
  const known = paths?.filter((path) => parts.mounts.at(path.endsWith('/') ? path : `${path}/`));
  if (known?.length === 0) return;
  await reloadPlugins(parts, { ...(plugin === undefined ? {} : { plugin }), ...(known ? { mounts: known } : {}) });
}
