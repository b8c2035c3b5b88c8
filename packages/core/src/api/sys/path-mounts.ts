import { randomUUID } from 'node:crypto';
import { type AnyPath, BadRequest, f, NoContent, path, PermissionDenied } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { MountRecord } from '../../kernel/mounts/mount-record.ts';
import { mergedOptions } from '../../services/mounts/mount-options.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { Removals } from '../../services/removal/removals.ts';
import { requireCountedLogins } from '../../services/lockout/lockout-settings.ts';
import { ignoredLockoutSettings, ignoredSettings, mergeMountConfig, pluginNameIn, tuneFields } from './mount-config.ts';
import { MountData, mountData, tuneData, Tuning } from './mount-data.ts';
import { GoesOn, RemovedAnswer, removedAnswer } from './path-removals.ts';

const Move = Type.Object({
  migration_id: Type.String(),
  migration_info: Type.Object({
    source_mount: Type.String(),
    target_mount: Type.String(),
    status: Type.Union([Type.Literal('in-progress'), Type.Literal('success'), Type.Literal('failure')]),
  }),
});

/** Segments of the longest mount path that can be tuned. */
const DEEPEST = 8;
const TUNABLE_BUILT_INS = ['token', 'system', 'identity', 'cubbyhole'];

/** `sys/mounts`, `sys/auth` and `sys/remount`: the same for secrets engines and for login methods. */
export function mountPaths({ mounts, removals }: { mounts: MountTable; removals: Removals }): AnyPath[] {
  return [...paths(mounts, removals, 'secret'), ...paths(mounts, removals, 'auth'), ...remountPaths(mounts)];
}

function paths(mounts: MountTable, removals: Removals, kind: 'secret' | 'auth'): AnyPath[] {
  const place = kind === 'secret' ? 'mounts' : 'auth';
  const noun = kind === 'secret' ? 'secrets engine' : 'login method';
  const lead = kind === 'secret' ? '' : 'auth/';
  const access = kind === 'auth' ? ({ access: 'sudo' } as const) : {};
  const full = (name: string): string => `${lead}${clean(name)}/`;
  const shown = (mount: Mount): string => mount.path.slice(lead.length);
  const data = async (mount: Mount) => mountData(mount, mount.removing ? await removals.statusOf(mount.uuid) : undefined);

  const list = path(place, { synopsis: `The ${noun}s that are mounted.`, description: 'By path.', fields: {} }).read({
    summary: `Lists ${noun}s.`,
    response: Type.Record(Type.String(), MountData),
    handle: async () => ({
      data: Object.fromEntries(await Promise.all(mounts.list(kind).map(async (mount) => [shown(mount), await data(mount)] as const))),
    }),
  });

  const one = path(`${place}/{path:all}`, {
    synopsis: `Mounts, shows and unmounts a ${noun}.`,
    description:
      'Unmounting takes back everything that was issued below the path. Where that cannot be done now, the mount stays, can be read and configured, issues nothing, and shows `removing` with the reasons; it is tried again until it succeeds. `sys/removals` cancels it, and `force=true` lets go.',
    ...access,
    fields: {
      path: f.name('Where it is mounted.'),
      type: f.string('What is mounted: the name of a plugin.'),
      description: f.string('For people.', { default: '' }),
      config: f.map('default_lease_ttl, max_lease_ttl and the other values that can be tuned.', { default: {} }),
      options: f.keyValues("The engine's own options, such as version."),
      local: f.bool('Accepted for clients that send it.', { default: false }),
      seal_wrap: f.bool('Accepted for clients that send it.', { default: false }),
      external_entropy_access: f.bool('Accepted for clients that send it.', { default: false }),
      plugin_name: f.string('The plugin, where it is not the type.'),
      plugin_version: f.string('Accepted; the version is that of the installed package.'),
      force: f.bool(
        'Of an unmount: remove the mount now and answer what is left outside: every lease that is not revoked, every unfinished change, and what the engine lists. It needs `sudo`.',
        { default: false },
      ),
    },
  })
    .read({
      summary: `Shows a ${noun}.`,
      response: MountData,
      handle: async ({ data: { path: at } }) => {
        const mount = mounts.at(full(at));
        if (!mount) throw new BadRequest(kind === 'secret' ? `No secret engine mount at ${clean(at)}/` : `No auth engine at ${clean(at)}/`);
        return { data: await data(mount) };
      },
    })
    .update({
      summary: `Mounts a ${noun}.`,
      response: NoContent,
      handle: async ({ data, id }) => {
        const type = data.type === 'plugin' || !data.type ? (data.plugin_name ?? pluginNameIn(data.config)) : data.type;
        const config = mergeMountConfig(
          { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false, ...(kind === 'auth' ? { token_type: 'default-service' } : {}) },
          data.config,
          { class: kind, type },
        );
        if (config.max_lease_ttl > 0 && config.default_lease_ttl > config.max_lease_ttl) {
          throw new BadRequest('given default lease TTL greater than given max lease TTL');
        }
        const warned = await mounts.mount(
          {
            path: full(data.path),
            class: kind,
            type,
            description: data.description,
            config,
            ...(data.options ? { options: data.options } : {}),
            local: data.local,
            seal_wrap: data.seal_wrap,
            external_entropy_access: data.external_entropy_access,
          },
          { vet: (mount) => requireCountedLogins(mount, config.user_lockout_config), request: id },
        );
        return warningsOf([...ignoredSettings(data.config), ...warned]);
      },
    })
    .delete({
      summary: `Unmounts a ${noun}.`,
      response: RemovedAnswer,
      answers: { 202: GoesOn },
      takes: ['force'],
      handle: async ({ data, caller }) => {
        const mount = mounts.at(full(data.path));
        if (mount?.type === 'token') throw new BadRequest('token credential backend cannot be disabled');
        if (mount && (mount.ofSystem || TUNABLE_BUILT_INS.includes(mount.type))) throw new BadRequest(`cannot unmount "${mount.path}"`);
        if (!data.force) return removedAnswer(full(data.path), await removals.remove(full(data.path)));
        if (!caller.sudo) throw new PermissionDenied();
        return removedAnswer(full(data.path), await removals.force(full(data.path)), { forced: true });
      },
    });

  return [list, one, ...tunePaths(mounts, kind)];
}

function tunePaths(mounts: MountTable, kind: 'secret' | 'auth'): AnyPath[] {
  // `mounts/auth/<path>/tune` tunes a login method too: the command lines use that form.
  const place = kind === 'secret' ? 'mounts' : 'auth';
  const full = (name: string): string => (kind === 'secret' ? `${clean(name)}/` : `auth/${clean(name)}/`);
  const parts = Array.from({ length: DEEPEST }, (_, index) => `part${index + 1}`);
  return parts.map((_, depth) => {
    const names = parts.slice(0, depth + 1);
    const captures = Object.fromEntries(names.map((name) => [name, f.name('Part of the path.')]));
    const nameOf = (data: Record<string, unknown>): string => names.map((name) => data[name] as string).join('/');
    const shape: string = names.map((name) => `{${name}:any}`).join('/');
    return path(`${place}/${shape}/tune`, {
      synopsis: 'How a mount is tuned.',
      description: 'Lifetimes are effective seconds; a write changes only what it sends.',
      ...(kind === 'auth' ? { access: 'sudo' as const } : {}),
      fields: {
        ...captures,
        description: f.string('For people.'),
        options: f.keyValues("The engine's own options; the ones sent are merged into the others, and an empty one removes it."),
        ...tuneFields,
      },
    })
      .read({
        summary: 'Shows the tuning.',
        response: Tuning,
        handle: async ({ data }) => {
          const mount = mounts.at(full(nameOf(data)));
          if (!mount) throw new BadRequest(`cannot fetch sysview for path "${full(nameOf(data))}"`);
          return { data: tuneData(mount) };
        },
      })
      .update({
        summary: 'Tunes the mount.',
        response: NoContent,
        handle: async ({ data: decoded, supplied, raw, id }) => {
          const data = decoded as Record<string, unknown>;
          const at = full(nameOf(data));
          const before = mounts.at(at);
          if (before?.ofSystem) throw new BadRequest(`cannot tune "${at}"`);
          if (before && TUNABLE_BUILT_INS.includes(before.type) && before.type !== 'token') {
            for (const key of ['default_lease_ttl', 'max_lease_ttl']) {
              if ((supplied as ReadonlySet<string>).has(key)) throw new BadRequest(`cannot tune parameter ${key} of ${at}`);
            }
          }
          const wasVersion = before?.record.options?.['version'];
          const change = (record: MountRecord): void => {
            record.config = mergeMountConfig(record.config, raw, record);
            if (before && raw['user_lockout_config']) requireCountedLogins(before, record.config.user_lockout_config);
            if ((supplied as ReadonlySet<string>).has('description')) record.description = data['description'] as string;
            record.options = mergedOptions(record.options, data['options'] as Record<string, string> | undefined);
          };
          const warnings = [...ignoredLockoutSettings(raw), ...(await mounts.tune(at, change, id))];
          const isVersion = mounts.at(at)?.record.options?.['version'];
          if (before?.type === 'kv' && isVersion === '2' && wasVersion !== '2') {
            warnings.push(
              'Upgrading mount from version 1 to version 2. This mount will be unavailable for a brief period and will resume service shortly.',
            );
          }
          return warningsOf(warnings);
        },
      });
  });
}

function warningsOf(warnings: readonly string[]): { warnings: readonly string[] } | undefined {
  return warnings.length === 0 ? undefined : { warnings };
}

function remountPaths(mounts: MountTable): AnyPath[] {
  const moves = new Map<string, { source_mount: string; target_mount: string; status: 'in-progress' | 'success' | 'failure' }>();
  return [
    path('remount', {
      synopsis: 'Moves a mount.',
      description: 'What was issued below the old path is taken back; settings and data move.',
      access: 'sudo',
      fields: { from: f.string('The path now.', { required: true }), to: f.string('The new path.', { required: true }) },
    }).update({
      summary: 'Moves a mount.',
      response: Type.Object({ migration_id: Type.String() }),
      handle: async ({ data, id: request }) => {
        const from = `${clean(data.from)}/`;
        const to = `${clean(data.to)}/`;
        const mount = mounts.at(from);
        if (mount?.ofSystem || ['sys/', 'identity/', 'cubbyhole/', 'auth/token/'].includes(from))
          throw new BadRequest(`cannot remount "${from}"`);
        if (!mount) throw new BadRequest(`no matching mount at "${from}"`);
        if (to.startsWith('auth/') !== from.startsWith('auth/'))
          throw new BadRequest(`cannot remount ${from.startsWith('auth/') ? 'auth' : 'secret'} mount to "${to}"`);
        if (['sys/', 'identity/', 'cubbyhole/', 'audit/'].some((place) => to.startsWith(place)) || to === 'auth/') {
          throw new BadRequest(`cannot remount to "${to}"`);
        }
        const id = randomUUID();
        const move = { source_mount: from, target_mount: to, status: 'in-progress' as 'in-progress' | 'success' | 'failure' };
        moves.set(id, move);
        if (moves.size > 100) moves.delete([...moves.keys()][0]!);
        try {
          await mounts.move(from, to, request);
          move.status = 'success';
        } catch (error) {
          move.status = 'failure';
          throw error;
        }
        return {
          data: { migration_id: id },
          warnings: [
            "Mount move has been queued. Progress will be reported in Strongroom's server log, tagged with the returned migration_id",
          ],
        };
      },
    }),
    path('remount/status/{id:any}', {
      synopsis: 'How a move stands.',
      description: 'Of moves since the start.',
      fields: { id: f.name('The migration_id.') },
    }).read({
      summary: 'Shows a move.',
      response: Move,
      handle: async ({ data }) => {
        const move = moves.get(data.id);
        return move && { data: { migration_id: data.id, migration_info: move } };
      },
    }),
  ];
}

/** Without slashes at the ends. */
export function clean(name: string): string {
  return name.replace(/^\/+|\/+$/g, '');
}
