import type { ComponentType } from 'react';

/** A page: its address below `/ui`, and the module that draws it, loaded when it is first opened. */
export interface PageRoute {
  /** `/kv/$mount/show/$`: `$name` is one segment, a closing `$` is the parameter `rest`. */
  readonly pattern: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
  /** Shown without a session: login, unseal. */
  readonly open?: boolean;
  /** Nothing to see at another server of the same API. */
  readonly own?: boolean;
}

export function page(pattern: string, load: PageRoute['load'], more: Pick<PageRoute, 'open' | 'own'> = {}): PageRoute {
  return { pattern, load, ...more };
}
