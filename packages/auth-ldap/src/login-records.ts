import type { Mappings } from './mappings.ts';
import type { RememberedNames } from './remembered-names.ts';

/** What the mount stores that a login goes by. */
export interface LoginRecords {
  readonly mappings: Mappings;
  readonly names: RememberedNames;
}
