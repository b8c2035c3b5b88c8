import type { ComponentType } from 'react';
import type { PageRoute } from './page-route.ts';

/** A part of the product with pages of its own. */
export interface Area {
  readonly name: string;
  readonly routes: readonly PageRoute[];
  /** The entry on the left; an area without one is reached from others. */
  readonly entry?: {
    readonly label: string;
    readonly to: string;
    readonly icon: ComponentType<{ size?: number; stroke?: number }>;
    readonly order: number;
    /** Not offered at another server of the same API. */
    readonly own?: boolean;
    /** Addresses for which the entry is the current one. */
    readonly owns: readonly string[];
  };
  /** Further pages that the palette offers by name. */
  readonly places?: readonly { readonly label: string; readonly to: string }[];
}
