import { abortable, PermissionDenied, Unavailable, type EngineRequest } from '@strongroom/engine-sdk';
import { admittedPath } from '../../kernel/call/admitted-path.ts';
import { canonicalPath, type MountFinder } from '../../kernel/mounts/canonical-path.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { isShown } from '../policies/shown-keys.ts';
import { internalOf, withInternal } from '../caller/internal-request.ts';

/** Names asked for at once. */
export const PAGE = 500;

export interface FolderPage {
  readonly names: readonly string[];
  /** Fewer names than these are the last ones. */
  readonly asked: number;
  /** Whether LIST would show the caller the name. */
  isSeen(name: string): boolean;
}

/** Reads folders as their caller could with LIST: the same rules of the same policies decide. */
export class FolderReader {
  readonly #mounts: MountFinder;
  /** The request on whose behalf folders are read. */
  readonly #request: EngineRequest;
  readonly #signal: AbortSignal;

  constructor(parts: { mounts: MountFinder; request: EngineRequest; signal: AbortSignal }) {
    this.#mounts = parts.mounts;
    this.#request = parts.request;
    this.#signal = parts.signal;
  }

  /**
   * The names in a folder after one, in byte order. `folder` begins at the root and ends in a slash. An answer of fewer than `asked` names is the last one.
   * @throws PermissionDenied, Unavailable, what the engine throws, and the reason of the signal
   */
  async page(folder: string, after: string): Promise<FolderPage> {
    const none = { names: [], asked: PAGE, isSeen: () => true };
    const found = canonicalPath(this.#mounts, admittedPath(folder, 'list'));
    const { mount, match } = found ?? {};
    const { declaration, decode, names } = match?.path ?? {};
    const op = declaration?.operations.list;
    if (!found || !mount || !match || !declaration || !decode || op?.searched !== true) return none;
    const { acl } = internalOf(this.#request);
    const page = after === '' ? {} : { after };
    const verdict = acl!.check({ operation: 'list', path: found.path, folds: found.folds, data: page, names });
    if (!verdict.allowed || (declaration.about.access === 'sudo' && !verdict.sudo)) throw new PermissionDenied();
    requireServing(mount);
    const asked = verdict.paginationLimit > 0 ? Math.min(PAGE, verdict.paginationLimit) : PAGE;
    const raw = { ...page, limit: asked };
    const decoded = decode(raw, match.captures, false);
    const request = withInternal(
      {
        ...this.#request,
        operation: 'list',
        path: found.rest,
        verbatim: match.verbatim,
        data: decoded.data as EngineRequest['data'],
        supplied: decoded.supplied as EngineRequest['supplied'],
        raw,
        storage: mount.storage,
        caller: { ...this.#request.caller, sudo: verdict.sudo },
        headers: {},
        signal: this.#signal,
      } satisfies EngineRequest,
      internalOf(this.#request),
    );
    const response = await abortable(
      this.#signal,
      mount.serve(async () => mount.run(async () => op.handle(request))),
    );
    const keys = (response?.data as { readonly keys?: unknown } | null | undefined)?.keys;
    if (!Array.isArray(keys)) return none;
    const isSeen = (name: string): boolean => isShown({ acl: acl!, mounts: this.#mounts }, verdict.keysFilters, found.path, name);
    return { names: keys.filter((key) => typeof key === 'string'), asked, isSeen };
  }
}

/** @throws Unavailable */
function requireServing(mount: Mount): void {
  if (mount.ending.reason || mount.paused || mount.quarantine !== undefined || !mount.engine) {
    throw new Unavailable(`the mount ${mount.path} does not serve requests now`);
  }
}
