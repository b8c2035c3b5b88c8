import { Unavailable } from '@strongroom/engine-sdk';
import type { MountTable } from '../services/mounts/mount-table.ts';
import type { PathRouter } from '../kernel/mounts/path-router.ts';
import type { Mount } from '../kernel/mounts/mount.ts';
import type { Call } from './call.ts';
import { canonicalPath } from '../kernel/mounts/canonical-path.ts';

const SYSTEM = 'sys/';

/** Finds the mount and the declared path of a call. */
export class Routing {
  readonly #mounts: MountTable;
  readonly #open: PathRouter;
  readonly #openMount: Mount;
  readonly #sealed: () => boolean;

  /** `open`: the paths of `sys/` that answer everybody, sealed or not. */
  constructor(parts: { mounts: MountTable; open: PathRouter; openMount: Mount; sealed: () => boolean }) {
    this.#mounts = parts.mounts;
    this.#open = parts.open;
    this.#openMount = parts.openMount;
    this.#sealed = parts.sealed;
  }

  /** Whether the call goes to a path that is always open; fills in the route if so. @throws Unavailable for all others while sealed */
  alwaysOpen(call: Call): boolean {
    if (call.path.startsWith(SYSTEM)) {
      const rest = call.path.slice(SYSTEM.length);
      const match = call.operation === 'help' ? undefined : this.#open.match(rest);
      if (match) {
        call.mount = this.#openMount;
        call.rest = rest;
        call.match = match;
        return true;
      }
    }
    if (this.#sealed()) throw new Unavailable('Vault is sealed');
    return false;
  }

  /** Fills in the route, and the canonical path that everything after this goes by. @throws BadRequest */
  find(call: Call): void {
    const found = canonicalPath(this.#mounts, call.path);
    if (!found) return;
    call.mount = found.mount;
    call.path = found.path;
    call.rest = found.rest;
    call.match = found.match;
    call.folds = found.folds;
  }
}
