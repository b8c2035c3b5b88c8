import { BadRequest } from '@strongroom/engine-sdk';
import type { UsablePlugins } from '../plugins/usable-plugins.ts';
import type { MountTable } from './mount-table.ts';

/** Restarts engines: those at these mounts, those of this plugin, or those that may use it. @throws BadRequest for a path without a mount */
export async function reloadPlugins(
  { mounts, plugins }: { mounts: MountTable; plugins: UsablePlugins },
  { plugin, mounts: paths = [] }: { plugin?: string; mounts?: readonly string[] },
): Promise<void> {
  const named = paths.map((path) => {
    const mount = mounts.at(path.endsWith('/') ? path : `${path}/`);
    if (!mount) throw new BadRequest(`no mount entry found for path ${JSON.stringify(path)}`);
    return mount;
  });
  const external = mounts.all().filter((mount) => mount.package && plugins.usable.includes(mount.package));
  const own = external.filter((mount) => mount.package!.name === plugin);
  const isEngine = plugins.usable.some(({ name, kind }) => name === plugin && (kind === 'auth' || kind === 'secret'));
  for (const mount of paths.length > 0 ? named : isEngine ? own : external) await mounts.restart(mount);
}
