import { BadRequest } from '@strongroom/engine-sdk';
import { admittedPath } from '../../kernel/call/admitted-path.ts';
import { canonicalPath, type MountFinder } from '../../kernel/mounts/canonical-path.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { CoreEvent, EventKind } from '../events/core-event.ts';
import type { Acl } from '../policies/acl.ts';

/** An event as callers see it. */
export interface ShownEvent {
  readonly kind: EventKind;
  /** RFC 3339. */
  readonly time: string;
  /** Path of the mount. */
  readonly mount?: string;
  /** Type of the mount. */
  readonly type?: string;
  /** What was read, to be allowed to see it, or could be: the path of the API that shows more. */
  readonly path?: string;
  readonly name?: string;
  readonly version?: number;
  readonly count?: number;
  readonly lease_id?: string;
  readonly request_id?: string;
}

interface Viewer {
  readonly acl: Acl;
  /** Digest of the token; '' for one that owns no leases. */
  readonly token: string;
}

/** Decides what of an event a caller sees. */
export class EventView {
  readonly #mounts: MountFinder & { byUuid(uuid: string): Mount | undefined };

  constructor(mounts: MountFinder & { byUuid(uuid: string): Mount | undefined }) {
    this.#mounts = mounts;
  }

  /** Undefined for what the caller may not see. */
  of(event: CoreEvent, viewer: Viewer): ShownEvent | undefined {
    const mount = event.mount === undefined ? undefined : this.#mounts.byUuid(event.mount);
    // Its mount is gone, or another server has just made it.
    if (event.mount !== undefined && !mount) return undefined;
    const path = this.#path(event, mount, viewer);
    if (path === undefined) return undefined;
    const { kind, time, name, version, count, lease, request } = event;
    return {
      kind,
      time: new Date(time).toISOString(),
      ...(mount ? { mount: mount.path, type: mount.type } : {}),
      ...(path === '' ? {} : { path }),
      ...(name === undefined ? {} : { name }),
      ...(version === undefined ? {} : { version }),
      ...(count === undefined ? {} : { count }),
      ...(lease ? { lease_id: lease.id } : {}),
      ...(request === undefined ? {} : { request_id: request }),
    };
  }

  /** The path that lets the caller see it; '' where everybody may. */
  #path({ paths, above, lease }: CoreEvent, mount: Mount | undefined, { acl, token }: Viewer): string | undefined {
    if (lease) {
      const folder = lease.id.slice(0, lease.id.lastIndexOf('/') + 1);
      const isOwn = lease.token !== '' && lease.token === token;
      return isOwn || this.#may(acl, 'list', `sys/leases/lookup/${folder}`) ? folder.slice(0, -1) : undefined;
    }
    if (!paths && !above) return '';
    const below = (paths ?? []).map((path) => (mount?.path ?? '') + path);
    return [...below, ...(above ?? [])].find((path) => this.#may(acl, 'read', path));
  }

  #may(acl: Acl, operation: 'read' | 'list', asked: string): boolean {
    try {
      const admitted = admittedPath(asked, operation);
      const found = canonicalPath(this.#mounts, admitted);
      const { allowed, sudo } = acl.check({
        operation,
        path: found?.path ?? admitted,
        folds: found?.folds,
        names: found?.match?.path.names,
      });
      return allowed && (sudo || found?.match?.path.declaration.about.access !== 'sudo');
    } catch (error) {
      // The name of something is no path of the API: nobody could read it.
      if (error instanceof BadRequest) return false;
      throw error;
    }
  }
}
